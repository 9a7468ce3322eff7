import { randomInt } from 'node:crypto';

import { runAgentChaos } from './run-agent-chaos.js';

// `npm run test:chaos` runs longer. CHAOS_SEED repeats the choices of a run, CHAOS_JOBS and CHAOS_ROUNDS change its size.
const isLong = process.env['CHAOS'] === 'long';
const seed = Number(process.env['CHAOS_SEED'] ?? randomInt(1_000_000));
const jobs = Number(process.env['CHAOS_JOBS'] ?? (isLong ? 500 : 40));
const rounds = Number(process.env['CHAOS_ROUNDS'] ?? 1);
const KILLS_PER_JOB = 1 / 15;

describe('while agent workers and Redis are killed and the chain’s server loses replies', () => {
  it.each(Array.from({ length: rounds }, (_, round) => [round + 1, seed + 10 * round]))(
    'each step of every job is mined once, and every end is reported (round %d, seed %d)',
    async (round, roundSeed) => {
      const say = (line: string) => void process.stderr.write(`chaos ${round}/${rounds}, seed ${roundSeed}: ${line}\n`);
      const report = await runAgentChaos({
        seed: roundSeed,
        jobs,
        workers: 3,
        kills: Math.ceil(jobs * KILLS_PER_JOB),
        onProgress: say,
      });
      const { states, transactions, kills, refusedPosts, tookMs } = report;
      say(
        `${JSON.stringify(states)}, ${transactions} transactions, ${kills.length} kills (${kills.join(', ')}), ` +
          `${refusedPosts} webhooks refused, ${Math.round(tookMs / 1000)} s, ${report.faults.length} faults`,
      );
      for (const fault of report.faults) say(fault);
      expect(report.faults).toEqual([]);
    },
    isLong ? 1_200_000 : 180_000,
  );
});
