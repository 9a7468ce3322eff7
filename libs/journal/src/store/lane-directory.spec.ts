import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes } from '../../test/lane-fixture.js';
import { laneKey } from '../jobs/keys.js';
import { LaneDirectory } from './lane-directory.js';

describe('the directory of lanes', () => {
  const fixture = useLanes();

  const createDirectory = (chainId = fixture.chain.chainId) =>
    new LaneDirectory({ journal: fixture.journal, chainId, nowMs: Date.now, maxAgeMs: 0 });
  const isAvailable = async () => {
    const lanes = await createDirectory().read();
    return lanes.find(({ address }) => address === fixture.lane.address)?.isAvailable;
  };
  const waitUntil = (available: boolean) =>
    waitFor(`the lane is ${available ? '' : 'not '}available`, async () => (await isAvailable()) === available);

  it('lists the accounts, those with a running process first', async () => {
    expect(await isAvailable()).toBe(false);
    const runner = fixture.startRunner();
    await waitUntil(true);
    const used = fixture.lane;
    await fixture.useNewWallet();
    expect((await createDirectory().read())[0]).toEqual({ address: used.address, isAvailable: true });
    fixture.lane = used;
    await runner.stop();
    await waitUntil(false);
  });

  // Prevents: a relayer whose process is gone stays offered for as long as Redis's clock was ahead.
  it('lists a lane whose lease is of a clock that was ahead as one without a running process', async () => {
    const { journal, lane } = fixture;
    await journal.takeLease(lane, 'worker', 60_000);
    expect(await isAvailable()).toBe(true);
    await fixture.redis.hset(laneKey(lane), 'leaseUntil', Date.now() + 3_600_000);
    expect(await isAvailable()).toBe(false);
  });

  it('lists a paused lane as one without a running process', async () => {
    fixture.startRunner();
    await waitUntil(true);
    await fixture.journal.pauseLane(fixture.lane, { code: 'TEST', message: 'Paused.', suggestion: 'Wait.' });
    await waitUntil(false);
  });

  it('lists no lanes of another chain', async () => {
    expect(await createDirectory(1).read()).toEqual([]);
  });

  it('shares one read among the calls of a short time', async () => {
    let asked = 0;
    const journal = {
      readLanes: () => {
        asked++;
        return fixture.journal.readLanes();
      },
      readLaneFields: fixture.journal.readLaneFields.bind(fixture.journal),
    };
    const directory = new LaneDirectory({ journal, chainId: 1328, nowMs: Date.now, maxAgeMs: 60_000 });
    await Promise.all([directory.read(), directory.read()]);
    await directory.read();
    expect(asked).toBe(1);
  });
});
