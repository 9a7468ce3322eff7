import { WaitingRoom } from './waiting-room.js';

describe('WaitingRoom', () => {
  const create = (options: { perClient?: number; total?: number; waitMs?: number } = {}) =>
    new WaitingRoom({ perClient: 2, total: 3, waitMs: 60_000, nowMs: () => 1_000, ...options });
  const LATER = 1_000_000;

  it('has a number of places per client, and in all', async () => {
    const room = create();
    const [first, second] = [room.createPlace('a', LATER), room.createPlace('a', LATER)];
    expect(await Promise.all([first.untilNextLook(), second.untilNextLook()])).toEqual(['now', 'now']);
    expect(await room.createPlace('a', LATER).untilNextLook()).toBe('full');
    expect(await room.createPlace('b', LATER).untilNextLook()).toBe('now');
    expect(await room.createPlace('c', LATER).untilNextLook()).toBe('full');
    expect(room.waiting).toBe(3);

    first.leave();
    first.leave();
    expect(room.waiting).toBe(2);
    expect(await room.createPlace('c', LATER).untilNextLook()).toBe('now');
  });

  it('holds no place for a payment that never waited', () => {
    const room = create();
    room.createPlace('a', LATER).leave();
    expect(room.waiting).toBe(0);
  });

  it('leaves time for the reply before the deadline', async () => {
    expect(await create().createPlace('a', 1_499).untilNextLook()).toBe('over');
    expect(await create().createPlace('a', 1_501).untilNextLook()).toBe('now');
  });

  it('does not wait at all if so configured', async () => {
    for (const none of [{ waitMs: 0 }, { perClient: 0 }, { total: 0 }]) {
      expect(await create(none).createPlace('a', LATER).untilNextLook()).toBe('over');
    }
  });
});
