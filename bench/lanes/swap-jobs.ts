import { setTimeout as sleep } from 'node:timers/promises';

import { WakeQueues } from '@tollgate/agent-jobs';
import { acceptJob, isFinal, Journal, type JobRecord, type LaneId } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { startRedis } from '../../tools/devnet/processes/redis.js';
import { startStack } from '../../tools/devnet/stack/stack.js';
import { startBenchChain } from '../bench-chain.js';
import { createRequest } from '../jobs/transfer-jobs.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { timeEach } from '../load/time-each.js';
import { watchProcessors } from '../process-usage.js';
import { runRounds, type Case, type Sample } from '../run-rounds.js';
import { readRedisPid } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';

const OURS = 'tollgate';
const SWAP = { operation: 'swap', input: { amount: '1', fromToken: 'USDC', toToken: 'WSEI' } };

interface Load {
  count: number;
  atOnce: number;
}

interface Worker {
  journal: Journal;
  queue: WakeQueues;
  lane: LaneId;
  readCores: () => () => Record<string, number>;
}

/**
 * Swaps of one token from one wallet, each an exact approval and the swap that uses it up, planned and sent by an agent
 * worker with default settings. One job at a time may use the allowance.
 */
export function runSwapJobsLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const cases: Case[] = [];
    for (const [name, blockTimeSeconds, loads] of [
      ['automine', undefined, quick ? [{ count: 8, atOnce: 8 }] : [1, 32].map((atOnce) => ({ count: 64, atOnce }))],
      ['1 s blocks', 1, [quick ? { count: 4, atOnce: 4 } : { count: 16, atOnce: 16 }]],
    ] as const) {
      progress(`starting a worker on a chain with ${name}`);
      const worker = await startWorker(keep, blockTimeSeconds);
      for (const load of loads) {
        const measure = () => carryOut(worker, load);
        cases.push({ name: `${name}, ${load.atOnce} open`, baseline: OURS, subjects: [{ name: OURS, measure }] });
      }
    }
    return {
      lane: 'swap-jobs',
      title: 'swap jobs a second of one wallet and one token, one worker process, appendfsync always',
      rows: await runRounds(cases, rounds, progress),
      notes: ['Times are from acceptance to the end of the job. A job has two transactions, which follow each other.'],
    };
  });
}

async function startWorker(keep: KeepUntilEnd, blockTimeSeconds: number | undefined): Promise<Worker> {
  const chain = keep(
    await startBenchChain({ protocols: true, ...(blockTimeSeconds !== undefined && { blockTimeSeconds }) }),
  );
  const redis = keep(await startRedis({ appendfsync: 'always' }));
  const stack = keep(
    await startStack({
      ...{ chain, redis, gateways: 0, verifiers: 0, agentWorkers: 1, agentWallets: { main: {} } },
      // Once it runs, it is as fast as the build, and another checkout can be measured without building it.
      fromSources: true,
      env: { NODE_ENV: 'production', LOG_LEVEL: 'warn' },
    }),
  );
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  const queue = new WakeQueues({ connection, onTrouble: (error) => console.error(error) });
  keep({ stop: () => queue.close().finally(() => connection.disconnect()) });
  const lane = stack.agents?.wallets[0]?.lane;
  if (!lane) throw new Error('the stack has no agent wallet');
  const redisPid = await readRedisPid(redis.url);
  const roles = { worker: stack.agentWorkers.map(({ pid }) => pid), redis: [redisPid] };
  return { journal: new Journal({ redis: connection }), queue, lane, readCores: () => watchProcessors(roles) };
}

async function carryOut(worker: Worker, { count, atOnce }: Load): Promise<Sample> {
  let begun = 0;
  const stop = worker.readCores();
  const sample = await timeEach(atOnce, () => (begun++ < count ? swap(worker) : undefined));
  return { ...sample, detail: stop() };
}

async function swap({ journal, queue, lane }: Worker): Promise<void> {
  const result = await acceptJob({ journal, queue }, createRequest(lane, SWAP));
  if (result.outcome !== 'accepted') throw new Error(`a job was not accepted: ${JSON.stringify(result)}`);
  const { state, failure } = await waitForEnd(journal, result.jobId);
  if (state !== 'FINAL') throw new Error(`a job ended as ${state}: ${JSON.stringify(failure)}`);
}

async function waitForEnd(journal: Journal, jobId: string): Promise<JobRecord> {
  for (;;) {
    const job = await journal.readJob(jobId);
    if (!job) throw new Error(`there is no job ${jobId}`);
    if (isFinal(job.state)) return job;
    await sleep(20);
  }
}
