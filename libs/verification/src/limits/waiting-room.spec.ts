import { PaymentRefused } from '../refusals.js';
import { WaitingRoom } from './waiting-room.js';

describe('WaitingRoom', () => {
  const create = (options: { perClient?: number; total?: number; waitMs?: number } = {}) =>
    new WaitingRoom({ perClient: 2, total: 3, waitMs: 60_000, nowMs: () => 1_000, ...options });
  const LATER = 1_000_000;
  const notYet = new PaymentRefused('receipt_missing');
  const full = { reason: 'waiting_room_full', retryAfterMs: 1000 };

  /** A payment that the chain does not have at the first look; the second gives `then`. */
  const judge = (room: WaitingRoom, client: string, deadlineMs = LATER, then = () => 'judged') => {
    let isFirst = true;
    return room.judge(client, deadlineMs, async () => {
      if (!isFirst) return then();
      isFirst = false;
      throw notYet;
    });
  };

  it('has a number of places per client, and in all', async () => {
    const room = create();
    const waiting = [judge(room, 'a'), judge(room, 'a')];
    await expect(judge(room, 'a')).rejects.toMatchObject(full);
    waiting.push(judge(room, 'b'));
    await expect(judge(room, 'c')).rejects.toMatchObject(full);
    expect(room.waiting).toBe(3);
    expect(room.counts).toEqual({ no_room: 2 });

    expect(await Promise.all(waiting)).toEqual(['judged', 'judged', 'judged']);
    expect(room.waiting).toBe(0);
    expect(await judge(room, 'c')).toBe('judged');
  });

  it('holds no place for a payment that never waited', async () => {
    const room = create({ total: 1 });
    const others = await Promise.all([1, 2].map(() => room.judge('a', LATER, async () => room.waiting)));
    expect(others).toEqual([0, 0]);
    const final = new PaymentRefused('transfer_missing');
    await expect(room.judge('a', LATER, () => Promise.reject(final))).rejects.toBe(final);
    expect(room.counts).toEqual({ no_room: 0 });
  });

  it('frees the place of a payment whose later look fails', async () => {
    const room = create();
    const failure = new Error('the chain does not answer');
    const failing = judge(room, 'a', LATER, () => {
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(room.waiting).toBe(0);
  });

  it('leaves time for the reply before the deadline', async () => {
    await expect(judge(create(), 'a', 1_499)).rejects.toBe(notYet);
    expect(await judge(create(), 'a', 1_501)).toBe('judged');
  });

  it('does not wait at all if so configured', async () => {
    for (const none of [{ waitMs: 0 }, { perClient: 0 }, { total: 0 }]) {
      await expect(judge(create(none), 'a')).rejects.toBe(notYet);
    }
  });
});
