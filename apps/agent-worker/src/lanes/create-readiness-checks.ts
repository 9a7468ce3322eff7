import { checkRedis, type ReadinessChecks } from '@tollgate/common';
import type { Chain, Journal } from '@tollgate/journal';
import type { Redis } from 'ioredis';

import type { WorkerWallet } from '../wallets/worker-wallet.js';

export interface CheckedParts {
  journalRedis: Redis;
  queueRedis: Redis;
  chain: Chain;
  journal: Journal;
  wallets: readonly WorkerWallet[];
  isOpen: () => boolean;
}

/** A readiness probe asks the chain again if the last answer is older than this. */
const CHAIN_NEWS_MS = 15_000;

/** Ready: all dependencies answer, and every wallet is usable. What the operator should do otherwise is logged. */
export function createReadinessChecks(parts: CheckedParts): ReadinessChecks {
  return {
    redis: checkRedis(parts.journalRedis),
    queues: checkRedis(parts.queueRedis),
    chain: checkChain(parts),
    journal: async () => {
      if (!parts.isOpen()) throw new Error('the journal is not open yet');
    },
    wallets: () => assertUsable(parts),
  };
}

function checkChain({ chain, wallets }: CheckedParts): () => Promise<void> {
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  const address = wallets[0]?.lane.address;
  return async () => {
    if (address === undefined || performance.now() - answeredAtMs < CHAIN_NEWS_MS) return;
    await chain.readHead(address);
    answeredAtMs = performance.now();
  };
}

/** A Redis that lost the nonces, or never had them, does not recover by itself. */
async function assertUsable({ journal, wallets }: CheckedParts): Promise<void> {
  const statuses = await Promise.all(wallets.map(({ lane }) => journal.readLane(lane)));
  const problems = wallets.flatMap(({ name }, index) => {
    const status = statuses[index];
    if (status?.nextNonce === null) return [`${name} is not adopted: run npm run wallets -- adopt ${name}`];
    if (status?.frozen !== 'chain_ahead') return [];
    return [
      `${name} has sent transactions that the journal does not know: check with npm run wallets -- list, then run ` +
        `npm run wallets -- adopt ${name}`,
    ];
  });
  if (problems.length > 0) throw new Error(problems.join('; '));
}
