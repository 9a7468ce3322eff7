import { sampleLane } from '../../test/sample-jobs.js';
import { useJournal } from '../../test/start-journal.js';
import { Journal } from './journal.js';

describe('the lanes of a fleet', () => {
  const { journal, redis } = useJournal();
  const other = new Journal({ redis, fleet: 'others' });

  it('belong to the fleet that adopted them first, and no other fleet can adopt them', async () => {
    const [lane, free] = [sampleLane(), sampleLane()];
    const nobodys = await journal.readLane(free);
    const both = await Promise.allSettled([
      journal.adopt(lane, { pendingNonce: 7 }),
      other.adopt(lane, { pendingNonce: 9 }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { fleet, nextNonce } = await journal.readLane(lane);
    const [owner, loser] = fleet === 'others' ? [other, journal] : [journal, other];
    expect(nextNonce).toBe(fleet === 'others' ? 9 : 7);
    await expect(loser.adopt(lane, { pendingNonce: 8 })).rejects.toThrow(/already sends for \w+,/);
    expect(await loser.findForeign([lane, free])).toEqual([lane]);
    expect(await owner.findForeign([lane, free])).toEqual([]);
    expect([nobodys.fleet, (await loser.readLanes()).length]).toEqual([null, 0]);
  });
});
