import { setTimeout as sleep } from 'node:timers/promises';

import type { KnownToken, WalletDirectory } from '@tollgate/agent-jobs';

import type { Attendant } from './attend-lane.js';

const RETRY_MS = 2000;

/** Publishes, for gateways, which tokens a wallet's jobs may refer to: those known to the worker that runs its lane. */
export function publishTokens(
  directory: WalletDirectory,
  walletName: string,
  readTokens: () => Promise<readonly KnownToken[]>,
): Attendant {
  return async ({ signal }) => {
    while (!signal.aborted) {
      try {
        return await directory.publishTokens(walletName, await readTokens());
      } catch {
        // Chain or Redis is down, which planning reports; until then only the worker finds unknown tokens.
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
}
