import type { Lease } from '@tollgate/ledger';

import { SaleClock } from './sale-facts.js';

const CLAIMED_AT_MS = 1_000;

describe('the times of a sale', () => {
  it.each([
    ['behind', CLAIMED_AT_MS - 3],
    ['ahead of', CLAIMED_AT_MS + 3],
  ])('follow each other, although the clock is %s that of Redis', (_, nowMs) => {
    const lease = { untilMs: CLAIMED_AT_MS + 60_000 } as Lease;
    const clock = new SaleClock(() => nowMs, { startedAtMs: performance.now(), lease, leaseMs: 60_000 });
    clock.noteAsked();
    clock.noteFulfilled();
    clock.noteSettled();
    const { presentedAtMs, verifiedAtMs, claimedAtMs, fulfilledAtMs, settledAtMs } = clock.read();
    expect(claimedAtMs).toBe(CLAIMED_AT_MS);
    const times = [presentedAtMs, claimedAtMs, verifiedAtMs, fulfilledAtMs, settledAtMs].map(Number);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(clock.upstreamMs).toBe(0);
  });
});
