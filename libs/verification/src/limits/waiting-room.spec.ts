import { setImmediate as allSettled } from 'node:timers/promises';

import { PaymentRefused } from '../refusals.js';
import { WaitingRoom } from './waiting-room.js';

const LATER = 1_000_000;
const NOT_YET = new PaymentRefused('receipt_missing');

function create(options: { perClient?: number; total?: number; waitMs?: number } = {}): WaitingRoom {
  return new WaitingRoom({ perClient: 2, total: 3, waitMs: 60_000, nowMs: () => 1_000, ...options });
}

/** A payment that is refused until it has come. */
async function present(room: WaitingRoom, client: string): Promise<{ come: () => Promise<string> }> {
  let hasCome = false;
  const judged = room.retry(client, LATER, async () => {
    if (!hasCome) throw NOT_YET;
    return 'good';
  });
  judged.catch(() => undefined);
  await allSettled();
  const come = (): Promise<string> => {
    hasCome = true;
    return judged;
  };
  return { come };
}

/** A payment that is refused at its first look, and good at its second. */
function presentTwice(room: WaitingRoom, client: string, deadlineMs: number): Promise<number> {
  let looks = 0;
  return room.retry(client, deadlineMs, async () => {
    looks++;
    if (looks === 1) throw NOT_YET;
    return looks;
  });
}

describe('WaitingRoom', () => {
  it('has a number of places per client, and in all', async () => {
    const room = create();
    const first = await present(room, 'a');
    const others = [await present(room, 'a'), await present(room, 'b')];
    expect(room.waiting).toBe(3);
    await expect(presentTwice(room, 'a', LATER)).rejects.toMatchObject({ reason: 'waiting_room_full', cause: NOT_YET });
    await expect(presentTwice(room, 'c', LATER)).rejects.toMatchObject({ reason: 'waiting_room_full' });
    expect([room.waiting, room.counts.no_room]).toEqual([3, 2]);

    expect(await first.come()).toBe('good');
    expect(room.waiting).toBe(2);
    expect(await presentTwice(room, 'c', LATER)).toBe(2);
    await Promise.all(others.map(({ come }) => come()));
    expect(room.waiting).toBe(0);
  });

  it('ends a wait in its time although the clock of deadlines is set back', async () => {
    let nowMs = 3_600_000;
    const room = new WaitingRoom({ perClient: 1, total: 1, waitMs: 300, nowMs: () => nowMs });
    const waiting = room.retry('a', nowMs + LATER, () => Promise.reject(NOT_YET));
    await allSettled();
    nowMs = 0;
    await expect(waiting).rejects.toBe(NOT_YET);
    expect(room.waiting).toBe(0);
  });

  it('holds no place for a payment that never waited', async () => {
    const room = create();
    const final = new PaymentRefused('transaction_failed');
    await expect(room.retry('a', LATER, () => Promise.reject(final))).rejects.toBe(final);
    expect(await room.retry('a', LATER, async () => room.waiting)).toBe(0);
    expect(room.waiting).toBe(0);
  });

  it('leaves time for the reply before the deadline', async () => {
    await expect(presentTwice(create(), 'a', 1_499)).rejects.toBe(NOT_YET);
    expect(await presentTwice(create(), 'a', 1_501)).toBe(2);
  });

  it('does not wait at all if so configured', async () => {
    for (const none of [{ waitMs: 0 }, { perClient: 0 }, { total: 0 }]) {
      await expect(presentTwice(create(none), 'a', LATER)).rejects.toBe(NOT_YET);
    }
  });
});
