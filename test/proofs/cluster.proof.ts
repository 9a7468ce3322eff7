import { runClusterRound, type RoundFigures } from './cluster/run-cluster-round.js';
import { startClusterSite, startSentinelSite } from './cluster/sites.js';
import { startBusiness } from './cluster/start-business.js';
import { readSeries } from './read-round.js';

const { seed, rounds, kind, report } = readSeries();
const ROUND_WITHIN_MS = 240_000;

describe(`gateways, verifiers and agent workers whose Redis servers fail (${kind})`, () => {
  it(
    `answer each payment once and send each transaction once, over ${rounds} rounds (seed ${seed})`,
    async () => {
      const site = kind === 'sentinel' ? await startSentinelSite() : await startClusterSite();
      const business = await startBusiness(site, seed).catch(async (error: unknown) => {
        await site.stop();
        throw error;
      });
      const past: Pick<Parameters<typeof runClusterRound>[0], 'earlier' | 'answeredBefore'> = {
        earlier: [],
        answeredBefore: [],
      };
      try {
        for (let round = 0; round < rounds; round++) {
          const startedAtMs = Date.now();
          const figures: RoundFigures = await runClusterRound({ site, business, kind, seed: seed + round, ...past });
          report({ seed: seed + round, passed: figures.faults.length === 0, startedAtMs, figures });
          expect(figures.faults).toEqual([]);
        }
      } catch (error) {
        process.stderr.write(`${business.stack.logs()}\n`);
        throw error;
      } finally {
        await business.stop();
        await site.stop();
      }
    },
    ROUND_WITHIN_MS * rounds,
  );
});
