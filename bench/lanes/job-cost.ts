import { randomBytes } from 'node:crypto';

import { createLaneId, nameLane, type Journal } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import type { Redis } from 'ioredis';

import { startBenchChain } from '../bench-chain.js';
import { createBenchWallet } from '../jobs/bench-wallet.js';
import { openJournal } from '../jobs/open-journal.js';
import { adoptLane, startRunner, submitJobs, transferPlanner, waitUntilEnded } from '../jobs/transfer-jobs.js';
import type { LaneOptions, LaneResult, LaneRow } from '../lane.js';
import { formatNumber } from '../report.js';
import { withCleanup } from '../with-cleanup.js';
import { readMemory, serverMicros } from './fill-ledger.js';

const AT_ONCE = 200;
const TOLD_EVERY = 5_000;

/** The Redis commands of one job with one transaction, and the memory of ended jobs. */
export async function runJobCostLane({ quick, full, progress }: LaneOptions): Promise<LaneResult> {
  progress('carrying jobs out');
  const cost = await measureCost(quick ? 500 : 4000);
  const notes: string[] = [];
  for (const [ended, kept] of full
    ? ([
        [100_000, 20_000],
        [100_000, 100_000],
      ] as const)
    : ([[5_000, 5_000]] as const)) {
    notes.push(await measureMemory(ended, kept, progress));
  }
  return { lane: 'job-cost', title: "what a job's journal costs Redis", rows: [cost], notes };
}

function measureCost(jobs: number): Promise<LaneRow> {
  return withCleanup(async (keep) => {
    const { rpcUrl, chainId } = keep(await startBenchChain());
    const { journal, redis } = await openJournal(keep);
    const wallet = await createBenchWallet(rpcUrl);
    const lane = await adoptLane(journal, chainId, wallet);
    const before = await readCounters(redis);
    await submitJobs(journal, lane, jobs);
    keep(startRunner({ journal, rpcUrl, chainId, wallet }));
    await waitUntilEnded(journal, [lane]);
    const after = await readCounters(redis);
    const each = (name: keyof Counters): number => (after[name] - before[name]) / jobs;
    return {
      case: `${jobs} transfer jobs`,
      subject: 'per job',
      detail: {
        'requests of worker and gateway': each('requests'),
        'commands, those in scripts included': each('commands'),
        'bytes to Redis': each('bytesIn'),
        'bytes from Redis': each('bytesOut'),
        'bytes of log': each('logBytes'),
        'µs of Redis': each('micros'),
      },
    };
  });
}

type Counters = Record<'requests' | 'commands' | 'bytesIn' | 'bytesOut' | 'logBytes' | 'micros', number>;

async function readCounters(redis: Redis): Promise<Counters> {
  const info = `${await redis.info('everything')}`;
  const field = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  const callsOf = (name: string): number =>
    Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  return {
    requests: ['evalsha', 'hgetall', 'zrange', 'zcard'].reduce((sum, name) => sum + callsOf(name), 0),
    commands: field('total_commands_processed'),
    bytesIn: field('total_net_input_bytes'),
    bytesOut: field('total_net_output_bytes'),
    logBytes: field('aof_current_size'),
    micros: serverMicros(info),
  };
}

function measureMemory(ended: number, kept: number, progress: (text: string) => void): Promise<string> {
  return withCleanup(async (keep) => {
    const { journal, redis } = await openJournal(keep, { appendfsync: 'no', jobsKept: kept });
    const lane = createLaneId(1328, `0x${randomBytes(20).toString('hex')}`);
    await journal.adopt(lane, { pendingNonce: 0 });
    const lease = await journal.takeLease(lane, 'bench', 86_400_000);
    const empty = await readMemory(redis);
    for (let done = 0; done < ended; done += AT_ONCE) {
      if (done % TOLD_EVERY === 0) progress(`ending jobs: ${formatNumber(done)} of ${formatNumber(ended)}`);
      const jobIds = await submitJobs(journal, lane, Math.min(AT_ONCE, ended - done));
      await Promise.all(jobIds.map((jobId) => endJob(journal, { jobId, stepIndex: 0, token: lease?.token ?? 0 })));
    }
    const bytes = (await readMemory(redis)) - empty;
    const jobs = await redis.zcard(`tollgate:{${nameLane(lane)}}:jobs`);
    return (
      `${formatNumber(ended)} ended jobs, ${formatNumber(kept)} kept at most: ${formatNumber(bytes / 2 ** 20)} MiB of Redis, ` +
      `${formatNumber(bytes / jobs)} bytes for each of the ${formatNumber(jobs)} that are kept, idempotency keys and events included.`
    );
  });
}

/** All that a worker writes about a job of one transaction, without one. */
async function endJob(journal: Journal, write: { jobId: string; stepIndex: number; token: number }): Promise<void> {
  const hash = (): Hex => `0x${randomBytes(32).toString('hex')}`;
  const { steps, preview, floorsHash, needsApproval } = await transferPlanner.plan(
    {} as Parameters<typeof transferPlanner.plan>[0],
    write,
  );
  const plan = { steps, plan: preview, floorsHash, needsApproval, maxInFlight: AT_ONCE };
  const { reserved } = await journal.beginStep({ ...write, ...plan });
  if (reserved?.outcome !== 'done') throw new Error('a job got no nonce');
  const attempt = {
    kind: 'first',
    hash: hash(),
    raw: `0x${'ab'.repeat(120)}`,
    maxFeePerGas: 10n,
    maxPriorityFeePerGas: 1n,
  } as const;
  await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: reserved.nonce, attempt });
  await journal.markBroadcast({ ...write, hash: attempt.hash });
  await journal.finishMined({ ...write, mined: { hash: attempt.hash, blockNumber: 1, blockHash: hash() } });
}
