import { readRound } from './read-round.js';
import { runChaos } from './run-chaos.js';

const { seed, isQuick } = readRound();
const plan = isQuick
  ? { seed, payments: 150, clients: 8, faults: 5 }
  : { seed, payments: 8000, clients: 32, faults: 80 };

describe('while gateways, verifiers and Redis are killed and each of two chains fails in turn', () => {
  it(
    `every payment buys exactly one answer of its own (seed ${seed})`,
    async () => {
      const report = await runChaos(plan);
      const retries = report.answers.flatMap(({ before }) => before);
      console.info(
        `seed ${seed}: ${report.faults.length} faults (${report.faults.join('; ')}), ${retries.length} retries`,
      );

      // Every payer was served with an answer of its own, and none had to pay twice.
      expect(report.answers).toHaveLength(plan.payments);
      expect(new Set(report.answers.map(({ body }) => body)).size).toBe(plan.payments);
      expect(new Set(report.upstreamKeys).size).toBe(plan.payments);
      // Every repeat gets the same answer.
      const answered = new Map(report.answers.map(({ name, body }) => [name, body]));
      expect(new Map(report.again.map(({ name, body }) => [name, body]))).toEqual(answered);
      expect(new Set(report.ledger.map(({ state }) => state))).toEqual(new Set(['answered']));
      expect(report.ledger).toHaveLength(plan.payments);
      expect(report.faults).toHaveLength(plan.faults);
    },
    isQuick ? 240_000 : 3_600_000,
  );
});
