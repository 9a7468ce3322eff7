import { ClientShares, type Ended } from './client-shares.js';

const REFUSED = { outcome: 'refused', failure: 'transfer_missing' };
const BOMB_BYTES = 1_048_576;

describe('ClientShares', () => {
  let nowMs: number;
  beforeEach(() => {
    nowMs = 1_000;
  });
  const create = (limits: { lookupsPerMinute?: number; bytesPerMinute?: number } = {}) =>
    new ClientShares({ lookupsPerMinute: 2, bytesPerMinute: 2 * BOMB_BYTES, nowMs: () => nowMs, ...limits });
  const look = (shares: ClientShares, ended: Ended, { client = 'a', bytes = 0 } = {}): void => {
    const lookUps = shares.begin(client);
    lookUps.assertLeft();
    lookUps.answered(bytes);
    lookUps.end(ended);
  };
  const usedUp = (retryAfterMs: number) =>
    expect.objectContaining({ reason: 'client_share_used_up', retryAfterMs }) as Error;

  it('gives each client a number of refused look-ups, and one more as time passes', () => {
    const shares = create();
    for (let count = 0; count < 2; count++) look(shares, REFUSED);
    expect(() => look(shares, REFUSED)).toThrow(usedUp(30_000));
    look(shares, REFUSED, { client: 'b' });
    nowMs += 30_000;
    look(shares, REFUSED);
    expect(() => look(shares, REFUSED)).toThrow(usedUp(30_000));
    expect(shares.counts).toEqual({ over_share: 2 });
  });

  it.each<Ended>([
    { outcome: 'claimed' },
    { outcome: 'valid' },
    { outcome: 'busy' },
    { outcome: 'refused', failure: 'payment_used' },
    { outcome: 'unavailable', reason: 'rpc_timeout' },
  ])('does not count a look-up that ended as %j', (ended) => {
    const shares = create();
    for (let count = 0; count < 10; count++) look(shares, ended);
  });

  it.each<Ended>([
    { outcome: 'refused', failure: 'payment_used' },
    { outcome: 'unavailable', reason: 'rpc_inconsistent' },
  ])('counts a search that found nothing and ended as %j', (ended) => {
    const shares = create({ lookupsPerMinute: 1 });
    const lookUps = shares.begin('a');
    lookUps.assertLeft();
    lookUps.foundNothing();
    lookUps.end(ended);
    expect(() => look(shares, REFUSED)).toThrow(usedUp(60_000));
  });

  it('counts a request that found no room to wait, and not one that needed no look-up', () => {
    const shares = create({ lookupsPerMinute: 1 });
    shares.begin('a').end(REFUSED);
    look(shares, { outcome: 'unavailable', reason: 'waiting_room_full' });
    expect(() => look(shares, REFUSED)).toThrow(usedUp(60_000));
  });

  it('counts answers longer than usual, unless they were payments', () => {
    const shares = create({ lookupsPerMinute: 0 });
    for (let count = 0; count < 10; count++) look(shares, { outcome: 'claimed' }, { bytes: BOMB_BYTES });
    for (let count = 0; count < 1000; count++) look(shares, REFUSED, { bytes: 16_000 });
    expect(shares.isCostly('a')).toBe(false);
    look(shares, { outcome: 'busy' }, { bytes: BOMB_BYTES });
    expect([shares.isCostly('a'), shares.isCostly('b')]).toEqual([true, false]);
    for (let count = 0; count < 2; count++) look(shares, REFUSED, { bytes: BOMB_BYTES });
    expect(() => look(shares, REFUSED)).toThrow(expect.objectContaining({ reason: 'client_share_used_up' }));
    nowMs += 60_000;
    look(shares, REFUSED);
    nowMs += 60_000;
    expect(shares.isCostly('a')).toBe(false);
  });

  it('keeps a client out for a minute at most, however much it asked for at once', () => {
    const shares = create();
    const atOnce = Array.from({ length: 100 }, () => shares.begin('a'));
    for (const lookUps of atOnce) lookUps.assertLeft();
    for (const lookUps of atOnce) {
      lookUps.answered(BOMB_BYTES);
      lookUps.end(REFUSED);
    }
    expect(() => look(shares, REFUSED)).toThrow(usedUp(60_000));
    nowMs += 60_000;
    look(shares, REFUSED);
  });

  it('treats zero as no limit', () => {
    const shares = create({ lookupsPerMinute: 0, bytesPerMinute: 0 });
    for (let count = 0; count < 10; count++) look(shares, REFUSED, { bytes: 100 * BOMB_BYTES });
    expect(shares.isCostly('a')).toBe(false);
  });
});
