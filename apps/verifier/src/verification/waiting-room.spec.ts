import { WaitingRoom } from './waiting-room.js';

describe('WaitingRoom', () => {
  const create = (options: { perClient?: number; total?: number; waitMs?: number } = {}) =>
    new WaitingRoom({ perClient: 2, total: 3, waitMs: 60_000, nowMs: () => 1_000, ...options });
  const LATER = 1_000_000;

  it('has room for so many of a client, and so many in all', async () => {
    const room = create();
    const [first, second] = [room.createPlace('a', LATER), room.createPlace('a', LATER)];
    expect(await Promise.all([first.untilNextLook(), second.untilNextLook()])).toEqual([true, true]);
    expect(await room.createPlace('a', LATER).untilNextLook()).toBe(false);
    expect(await room.createPlace('b', LATER).untilNextLook()).toBe(true);
    expect(await room.createPlace('c', LATER).untilNextLook()).toBe(false);
    expect(room.waiting).toBe(3);

    first.leave();
    first.leave();
    expect(room.waiting).toBe(2);
    expect(await room.createPlace('c', LATER).untilNextLook()).toBe(true);
  });

  it('holds no place for what never waited', () => {
    const room = create();
    room.createPlace('a', LATER).leave();
    expect(room.waiting).toBe(0);
  });

  it('leaves time for the reply before the deadline', async () => {
    expect(await create().createPlace('a', 1_499).untilNextLook()).toBe(false);
    expect(await create().createPlace('a', 1_501).untilNextLook()).toBe(true);
  });

  it('does not wait at all when told so', async () => {
    expect(await create({ waitMs: 0 }).createPlace('a', LATER).untilNextLook()).toBe(false);
  });
});
