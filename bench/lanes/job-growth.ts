import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { startProgram } from '../../tools/devnet/processes/start-program.js';
import { startBenchChain } from '../bench-chain.js';
import { createBenchWallet } from '../jobs/bench-wallet.js';
import { openJournal, type BenchJournal } from '../jobs/open-journal.js';
import { adoptLane, submitJobs, waitUntilEnded } from '../jobs/transfer-jobs.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { summarize } from '../load/time-each.js';
import { watchProcessors } from '../process-usage.js';
import type { JobWorkerTask } from '../programs/job-worker.js';
import { runRounds, type Case, type Sample } from '../run-rounds.js';
import { withCleanup } from '../with-cleanup.js';

const LEASE_MS = 1000;

/** The same jobs with more worker processes and more wallets, on one Redis and one chain. */
export function runJobGrowthLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const store = await openJournal(keep);
    const jobs = quick ? 1600 : 8000;
    const cases = [1, 8].map((wallets): Case => {
      const nameOf = (workers: number) => `${workers} worker${workers > 1 ? 's' : ''}`;
      return {
        name: `${wallets} wallet${wallets > 1 ? 's' : ''}`,
        baseline: nameOf(1),
        subjects: [1, 2, 4].map((workers) => ({
          name: nameOf(workers),
          measure: () => carryOut(chain, store, { workers, wallets, jobs }),
        })),
      };
    });
    return {
      lane: 'job-growth',
      title: `${jobs} transfer jobs with more workers and more wallets, automine`,
      baseline: 'one worker',
      rows: await runRounds(cases, rounds, progress),
      notes: ['One worker at a time works on a wallet, so more workers help only with more wallets.'],
    };
  });
}

async function carryOut(
  { rpcUrl, chainId }: Devnet,
  { journal, server, redisPid }: BenchJournal,
  { workers, wallets, jobs }: { workers: number; wallets: number; jobs: number },
): Promise<Sample> {
  return withCleanup(async (keep) => {
    const made = await Promise.all(Array.from({ length: wallets }, () => createBenchWallet(rpcUrl)));
    const lanes = await Promise.all(made.map((wallet) => adoptLane(journal, chainId, wallet)));
    // Holds the lanes, so that no worker works on them until the clock starts.
    const leases = await Promise.all(lanes.map((lane) => journal.takeLease(lane, 'bench', 600_000)));
    for (const lane of lanes) await submitJobs(journal, lane, jobs / wallets);
    const privateKeys = made.map(({ privateKey }) => privateKey);
    const task: JobWorkerTask = { redisUrl: server.url, rpcUrl, chainId, privateKeys, leaseMs: LEASE_MS };
    const env = { TASK: JSON.stringify(task) };
    const started = await Promise.all(
      Array.from({ length: workers }, async () => keep(await startProgram(['bench/programs/job-worker.ts'], env))),
    );
    const readCores = watchProcessors({ workers: started.map(({ pid }) => pid), redis: [redisPid] });
    const startedMs = performance.now();
    for (const lease of leases) if (lease) await journal.releaseLease(lease);
    await waitUntilEnded(journal, lanes);
    return { ...summarize(jobs, performance.now() - startedMs, []), detail: readCores() };
  });
}
