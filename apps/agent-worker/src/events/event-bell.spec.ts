import type { LaneId } from '@tollgate/journal';

import { sampleLane, submitSample } from '../../../../libs/journal/test/sample-jobs.js';
import { startJournal, type StartedJournal } from '../../../../libs/journal/test/start-journal.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { EventBell } from './event-pumps.js';

describe('the event bell', () => {
  let started: StartedJournal;
  let bell: EventBell;
  const troubles: unknown[] = [];

  beforeAll(async () => {
    started = await startJournal();
    bell = new EventBell(started.server.url, (error) => troubles.push(error));
  });

  afterAll(async () => {
    await bell.close();
    await started.stop();
  });

  const adoptLane = async (): Promise<LaneId> => {
    const lane = sampleLane();
    await started.journal.adopt(lane, { pendingNonce: 0 });
    await started.journal.takeLease(lane, 'worker', 600_000);
    return lane;
  };
  const happen = async (lane: LaneId): Promise<void> => {
    await started.journal.cancel((await submitSample(started.journal, lane, 1)).jobId);
  };

  it('rings for each lane that has new events, and for no other', async () => {
    const lanes = [await adoptLane(), await adoptLane(), await adoptLane()] as const;
    const rings = [0, 0, 0];
    const leave = lanes.map((lane, index) => bell.join(lane, 0, () => (rings[index] = (rings[index] ?? 0) + 1)));
    await happen(lanes[0]);
    await waitFor('the first rings', () => rings[0] === 1);
    await happen(lanes[1]);
    await waitFor('the second rings', () => rings[1] === 1);
    leave[0]!();
    await happen(lanes[0]);
    await happen(lanes[1]);
    await waitFor('the second rings again', () => rings[1] === 2);
    // The blocking read that is still running may include the first lane.
    await happen(lanes[0]);
    await happen(lanes[1]);
    await waitFor('the second rings once more', () => rings[1] === 3);
    expect(rings[0]).toBeLessThan(3);
    expect(rings[2]).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('does not ring for events that its listener already has', async () => {
    const [lane, other] = [await adoptLane(), await adoptLane()];
    await happen(lane);
    let rings = 0;
    bell.join(lane, 1, () => rings++);
    let otherRings = 0;
    bell.join(other, 0, () => otherRings++);
    await happen(other);
    await waitFor('the other rings', () => otherRings === 1);
    expect(rings).toBe(0);
    await happen(lane);
    await waitFor('it rings', () => rings === 1);
  });
});
