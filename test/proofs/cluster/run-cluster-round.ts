import { setTimeout as sleep } from 'node:timers/promises';

import { listRefusals } from '../../../libs/ledger/src/index.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { withRedis } from '../../../tools/devnet/processes/with-redis.js';
import { waitUntilWell } from '../../cluster/servers.js';
import type { BalancedClient } from '../../harness/network/balanced-client.js';
import { createRandom, type Random } from '../../harness/random.js';
import { waitFor } from '../../harness/retry.js';
import { judgeLoad, listLastAnswers, presentAgain } from '../../upgrade/judge-load.js';
import { createRecord, startLoad, type LoadRecord, type Purchase } from '../../upgrade/load.js';
import type { LastAnswer } from '../judge-book.js';
import { FAULTS, type Kind } from './faults.js';
import type { Site } from './sites.js';
import type { Business } from './start-business.js';

/** What one round has shown. */
export interface RoundFigures {
  /** What was done to the servers. */
  fault: string;
  payments: number;
  jobs: number;
  /** Requests that were answered 503 or not at all, and sent again. */
  refused: number;
  /** From the fault to the last of them. */
  recoveryMs: number;
  /** The longest that a client had to repeat one request. */
  longestMs: number;
  /** Payments that were refused for good, and are on the list of refunds. */
  owed: number;
  answeredTwice: number;
  /** Paid, and neither served nor owed. */
  notServed: number;
  /** Transfers and steps of jobs that are not on the chain exactly once. */
  transactionsTwice: number;
  jobsFailed: number;
  /** Payments that the book lacks, has twice or has otherwise than chain and clients. */
  notBooked: number;
  /** What is wrong, in words. */
  faults: string[];
}

const QUIET_MS = 1_000;
const PRESENT_AGAIN_EVERY_MS = 200;
/** Payments of earlier rounds that are presented again. */
const REMEMBERED = 200;

/** One fault under load; then every payment and job of the round is compared with the chain and the answers. */
export async function runClusterRound({
  site,
  business,
  kind,
  seed,
  earlier,
  answeredBefore,
}: {
  site: Site;
  business: Business;
  kind: Kind;
  seed: number;
  /** The last payments of earlier rounds; those of this round are added. */
  earlier: Purchase[];
  /** The last answers to all payments of earlier rounds; those of this round are added. */
  answeredBefore: LastAnswer[];
}): Promise<RoundFigures> {
  const { chain, client } = business;
  const random = createRandom(seed);
  const record = createRecord();
  const fromBlock = Number(await callRpc(chain.rpcUrl, 'eth_blockNumber')) + 1;
  const load = startLoad({ ...business, record });
  const checks = startChecks(client, { record, earlier, random: createRandom(seed + 1) });

  await sleep(1_000 + random.below(1_000));
  const faultAtMs = Date.now();
  let fault: string;
  let checked: string[];
  try {
    fault = await FAULTS[kind](site, random);
    await waitUntilWell(site.nodes, () => site.isOk());
    await waitUntilServed(record);
  } finally {
    await load.stop();
    checked = await checks.stop();
  }
  business.plannedJobs.splice(0, record.jobs.length);

  const owed = await findOwed(site.url, record);
  const judged = await judgeLoad({ ...business, record, fromBlock, owed, answeredBefore });
  answeredBefore.push(...listLastAnswers(record));
  const answers = [...judged.answers, ...checked];
  const isUnserved = ({ id, body }: Purchase) => body === null && !owed.has(id);
  earlier.push(...record.purchases.filter(({ body }) => body !== null));
  earlier.splice(0, earlier.length - REMEMBERED);
  return {
    fault,
    payments: record.purchases.length,
    jobs: record.jobs.length,
    refused: record.retries.length,
    recoveryMs: Math.max(0, ...record.retries.map(({ atMs }) => atMs - faultAtMs)),
    longestMs: record.longestMs,
    owed: owed.size,
    answeredTwice: answers.length,
    notServed: record.purchases.filter(isUnserved).length,
    transactionsTwice: judged.jobs.length + judged.charges.length,
    jobsFailed: judged.failedJobs.length,
    notBooked: judged.book.length,
    faults: [...judged.failures, ...judged.charges, ...answers, ...judged.jobs, ...judged.failedJobs, ...judged.book],
  };
}

/** Until requests have succeeded for a second, among them purchases. */
async function waitUntilServed(record: LoadRecord): Promise<void> {
  const countServed = () => record.purchases.filter(({ body }) => body !== null).length;
  const [before, sinceMs] = [countServed(), Date.now()];
  await waitFor('requests to succeed', () => {
    const quietSinceMs = Math.max(sinceMs, record.retries.at(-1)?.atMs ?? 0);
    return Date.now() - quietSinceMs > QUIET_MS && countServed() > before + 1;
  });
}

/** Presents payments again that were served, of this round and of earlier ones, also while servers are down. */
function startChecks(
  client: BalancedClient,
  { record, earlier, random }: { record: LoadRecord; earlier: readonly Purchase[]; random: Random },
): { stop(): Promise<string[]> } {
  let isOver = false;
  const faults: string[] = [];
  const checking = (async () => {
    while (!isOver) {
      const served = [...earlier, ...record.purchases].filter(({ body }) => body !== null);
      if (served.length > 0) faults.push(...(await presentAgain(client, random.pick(served)).catch(String)));
      await sleep(PRESENT_AGAIN_EVERY_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await checking;
      return faults;
    },
  };
}

/** The refused payments that the ledger lists for a refund. */
async function findOwed(url: string, { purchases }: LoadRecord): Promise<Set<string>> {
  const refused = purchases.filter(({ refusal }) => refusal === 'older_than_ledger');
  if (refused.length === 0) return new Set();
  const listed = await withRedis(url, (redis) => listRefusals(redis, { limit: 10_000 }));
  const names = listed.map(({ payment }) => payment).join('\n');
  return new Set(refused.map(({ id }) => id).filter((id) => names.includes(id)));
}
