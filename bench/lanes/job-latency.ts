import { acceptJob, createKeySigner, eventsKey, type LaneId } from '@tollgate/journal';
import { Redis } from 'ioredis';

import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { startBenchChain } from '../bench-chain.js';
import { noteProgress } from '../fail-when-stalled.js';
import { createBenchWallet, createTransfer } from '../jobs/bench-wallet.js';
import { openJournal, type BenchJournal } from '../jobs/open-journal.js';
import { ask, connectEndpoint } from '../jobs/send-directly.js';
import { adoptLane, createRequest, startRunner } from '../jobs/transfer-jobs.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { summarize, timeEach } from '../load/time-each.js';
import { runRounds, type Sample } from '../run-rounds.js';
import { withCleanup } from '../with-cleanup.js';

const DIRECT = 'direct send';

/** The time from a job's acceptance until a node has its transaction and the lane has reported it. */
export function runJobLatencyLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const store = await openJournal(keep);
    const count = quick ? 100 : 400;
    const cases = [1, 16].map((atOnce) => ({
      name: `${atOnce} at a time`,
      baseline: DIRECT,
      subjects: [
        { name: DIRECT, measure: () => sendDirectly(chain, { count, atOnce }) },
        { name: 'accepted to submitted', measure: () => accept(chain, store, { count, atOnce }) },
      ],
    }));
    return {
      lane: 'job-latency',
      title: "from a job's acceptance to transactionSubmitted, automine, appendfsync always",
      baseline: DIRECT,
      rows: await runRounds(cases, rounds, progress),
      notes: [`${DIRECT}: the nonce is known; signed, sent, and the hash in hand.`],
    };
  });
}

interface Load {
  count: number;
  atOnce: number;
}

async function sendDirectly({ rpcUrl, chainId }: Devnet, { count, atOnce }: Load): Promise<Sample> {
  const signer = createKeySigner((await createBenchWallet(rpcUrl)).privateKey);
  const rpc = connectEndpoint({ rpcUrl, chainId });
  let next = 0;
  const send = async (nonce: number): Promise<unknown> =>
    ask(rpc, 'eth_sendRawTransaction', [await signer.sign(createTransfer(chainId, nonce))]);
  const sample = await timeEach(atOnce, () => (next < count ? send(next++) : undefined));
  await rpc.close();
  return sample;
}

async function accept(chain: Devnet, { journal, server }: BenchJournal, load: Load): Promise<Sample> {
  const { rpcUrl, chainId } = chain;
  const wallet = await createBenchWallet(rpcUrl);
  const lane = await adoptLane(journal, chainId, wallet);
  const { runner, stop } = startRunner({ journal, rpcUrl, chainId, wallet });
  const submit = async (): Promise<string> => {
    const result = await acceptJob({ journal, queue: runner }, createRequest(lane));
    if (result.outcome !== 'accepted') throw new Error(`a job was not accepted: ${JSON.stringify(result)}`);
    return result.jobId;
  };
  try {
    // The first finds the lane not held yet.
    await timeToSubmitted({ redisUrl: server.url, lane, count: 1, atOnce: 1, submit });
    return await timeToSubmitted({ redisUrl: server.url, lane, ...load, submit });
  } finally {
    await stop();
  }
}

/** Calls back with the job's id when its lane's events report that a node took its transaction. */
async function watchSubmitted(redisUrl: string, lane: LaneId, onSubmitted: (jobId: string) => void): Promise<Redis> {
  const redis = new Redis(redisUrl);
  const [newest] = await redis.xrevrange(eventsKey(lane), '+', '-', 'COUNT', 1);
  let last = newest?.[0] ?? '0-0';
  const watch = async (): Promise<void> => {
    for (;;) {
      const streams = await redis.xread('BLOCK', 0, 'STREAMS', eventsKey(lane), last);
      for (const [id, fields] of streams?.flatMap(([, entries]) => entries) ?? []) {
        last = id;
        const [type, jobId = ''] = fields[1]?.split(' ') ?? [];
        if (type === 'transactionSubmitted') onSubmitted(jobId);
      }
    }
  };
  // Ends with an error when the connection is closed.
  watch().catch(() => undefined);
  return redis;
}

/**
 * Times jobs from the moment before `submit`, which answers the accepted job's id, to their `transactionSubmitted`, so many
 * at a time.
 */
async function timeToSubmitted(options: {
  redisUrl: string;
  lane: LaneId;
  count: number;
  atOnce: number;
  submit: () => Promise<string>;
}): Promise<Sample> {
  const { redisUrl, lane, count, atOnce, submit } = options;
  const submittedAtMs = new Map<string, number>();
  const waiting = new Map<string, (atMs: number) => void>();
  const redis = await watchSubmitted(redisUrl, lane, (jobId) => {
    const wake = waiting.get(jobId);
    if (wake) wake(performance.now());
    else submittedAtMs.set(jobId, performance.now());
  });
  const timesMs: number[] = [];
  let begun = 0;
  const repeat = async (): Promise<void> => {
    while (begun++ < count) {
      const startedMs = performance.now();
      const jobId = await submit();
      const early = submittedAtMs.get(jobId);
      const atMs = early ?? (await new Promise<number>((resolve) => waiting.set(jobId, resolve)));
      timesMs.push(atMs - startedMs);
      noteProgress();
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, repeat));
  redis.disconnect();
  return summarize(count, performance.now() - startedMs, timesMs);
}
