import type { WalletDirectory } from '@tollgate/agent-jobs';
import { ConfigurationError, openWhenUp } from '@tollgate/config';
import { nameLane, type Journal } from '@tollgate/journal';
import { explainRedisRefusal, type RedisClient, StoreError, StoreUnavailableError } from '@tollgate/redis';
import type { Logger } from 'nestjs-pino';

import type { WorkerWallet } from '../wallets/worker-wallet.js';

export interface JournalParts {
  /** That of the journal and of the directory. */
  redis: RedisClient;
  journal: Journal;
  directory: WalletDirectory;
  wallets: readonly WorkerWallet[];
}

/**
 * Opens the journal and publishes the wallets; waits for a Redis that is down.
 * @throws ConfigurationError for a Redis that may lose jobs, for a relayer's account, for a name that refers to another
 * account, and for an account that has another name
 */
export async function openJournal(parts: JournalParts, logger: Logger): Promise<void> {
  const open = async (): Promise<void> => {
    await parts.journal.open();
    await assertOwnAccounts(parts);
    await publishWallets(parts);
  };
  await openWhenUp("agent worker: waiting for the journal's Redis", open, logger);
}

/** Two services would give out the same nonces for an account that also settles payments. */
async function assertOwnAccounts({ redis, journal, wallets }: JournalParts): Promise<void> {
  const foreign = new Set((await ask(redis, journal.findForeign(wallets.map(({ lane }) => lane)))).map(nameLane));
  const problems = wallets
    .filter(({ lane }) => foreign.has(nameLane(lane)))
    .map(
      ({ name, lane }) =>
        `The wallet ${name}, ${lane.address}, is a relayer, which settles payments. Give the wallet an account of its own.`,
    );
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/**
 * Publishes the accounts behind the wallet names for gateways and commands.
 * @throws ConfigurationError when a name refers to another account, in whose lane jobs of that name may wait, and when
 * an account has another name, whose jobs would be refused
 */
async function publishWallets({ redis, directory, wallets }: JournalParts): Promise<void> {
  const problems: string[] = [];
  for (const { name, lane } of wallets) {
    const published = await ask(redis, directory.publish({ name, lane }));
    if (published.name !== name) {
      problems.push(
        `The wallet ${name} is ${lane.address} on chain ${lane.chainId}, whose name is ${published.name}; jobs and API keys ` +
          `are bound to that. Give the wallet that name, or, once the jobs of ${published.name} have ended, run: ` +
          `npm run wallets -- remove ${published.name}`,
      );
      continue;
    }
    if (nameLane(published.lane) === nameLane(lane)) continue;
    problems.push(
      `The wallet ${name} is ${lane.address} on chain ${lane.chainId} here, but the name refers to ` +
        `${published.lane.address} on chain ${published.lane.chainId}. Give the wallet another name, or, once the jobs ` +
        `of the old account have ended, run: npm run wallets -- remove ${name}`,
    );
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** @throws StoreError for a refusal by Redis, which waiting does not fix; StoreUnavailableError where it may be down */
function ask<T>(redis: RedisClient, question: Promise<T>): Promise<T> {
  return question.catch((cause: unknown) => {
    const refusal = explainRedisRefusal(cause, redis);
    if (refusal !== null) throw refusal;
    if (cause instanceof StoreError || cause instanceof TypeError) throw cause;
    throw new StoreUnavailableError('journal', String(cause), { cause });
  });
}
