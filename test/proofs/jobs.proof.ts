import { killSignedPayments, POINTS } from './kill-signed-payments.js';
import { readRound } from './read-round.js';
import { runAgentChaos } from './run-agent-chaos.js';

const { seed, isQuick } = readRound();
const JOBS = isQuick ? 40 : 500;
const KILLS_PER_JOB = 1 / 15;

describe('while agent workers and Redis are killed and the chain’s server loses replies', () => {
  it(
    `each step of every job is mined once, and every end is reported (seed ${seed})`,
    async () => {
      const say = (line: string) => void process.stderr.write(`jobs, seed ${seed}: ${line}\n`);
      const report = await runAgentChaos({
        seed,
        jobs: JOBS,
        workers: 3,
        kills: Math.ceil(JOBS * KILLS_PER_JOB),
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
    isQuick ? 360_000 : 2_400_000,
  );
});

describe('while a worker is killed at each point of a signed payment', () => {
  it(
    `it is paid once and answered (${POINTS.join(', ')})`,
    async () => {
      expect(await killSignedPayments()).toEqual([]);
    },
    POINTS.length * 120_000,
  );
});
