import { LaneFixture, RECEIVER } from '../../libs/journal/test/lane-fixture.js';
import { markOf } from '../../libs/journal/test/transfer-planner.js';
import type { Child } from '../../tools/devnet/processes/child-process.js';
import { startRpcProxy, type RpcProxy } from '../harness/network/rpc-proxy.js';
import { createRandom } from '../harness/random.js';
import { waitFor } from '../harness/retry.js';
import { readRound } from './read-round.js';

const { seed, isQuick } = readRound();
const JOBS = isQuick ? 60 : 200;
const KILLS = isQuick ? 2 : 6;
const random = createRandom(seed);

describe(`two workers that are killed at random (seed ${seed})`, () => {
  let fixture: LaneFixture;
  let proxy: RpcProxy;

  beforeAll(async () => {
    fixture = await LaneFixture.start({ blockTimeSeconds: 1 });
    proxy = await startRpcProxy(fixture.chain.rpcUrl);
  });

  afterAll(async () => {
    await fixture.endWorkers();
    await proxy.stop();
    await fixture.stop();
  });

  it(`mine each step of ${JOBS} jobs once, through a server that drops replies`, async () => {
    await fixture.useNewWallet();
    proxy.intercept('*', async (call, forward) => {
      const fate = random.below(8);
      if (!JSON.stringify(call).includes('eth_sendRawTransaction') || fate > 2) return { body: await forward() };
      if (fate === 2) return { status: 429, body: '' };
      await forward();
      return 'broken';
    });
    const jobIds = await Promise.all(
      Array.from({ length: JOBS }, (_, index) =>
        fixture.submit({ receivers: index % 8 ? [RECEIVER] : [RECEIVER, RECEIVER] }),
      ),
    );
    const steps = jobIds.flatMap((jobId, index) =>
      index % 8 ? [markOf(jobId, 0)] : [markOf(jobId, 0), markOf(jobId, 1)],
    );

    const startWorker = () => fixture.startWorker({ rpcUrls: [proxy.rpcUrl], settings: { maxInFlight: 32 } });
    const workers: Child[] = await Promise.all([startWorker(), startWorker()]);
    const countEnded = async () => JOBS - (await fixture.journal.readLane(fixture.lane)).openJobs;
    for (let kill = 1; kill <= KILLS; kill++) {
      const ended = Math.floor((kill * JOBS) / (KILLS + 1));
      await waitFor(`${ended} ended jobs`, async () => (await countEnded()) >= ended);
      const victim = random.below(workers.length);
      await workers[victim]!.end('SIGKILL');
      workers[victim] = await startWorker();
    }

    const jobs = await fixture.waitForEnds(jobIds);
    expect(jobs.filter(({ state }) => state !== 'FINAL')).toEqual([]);
    const mined = await fixture.readMined();
    expect(mined.map(({ input }) => input).sort()).toEqual(steps.sort());
    expect(mined.map(({ nonce }) => nonce)).toEqual(steps.map((_, index) => 41 + index));
    const events = await fixture.readEvents();
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const completed = events.filter(({ type }) => type === 'jobCompleted').map(({ jobId }) => jobId);
    expect(completed.sort()).toEqual([...jobIds].sort());
  }, 600_000);
});
