import { RateLimit } from './rate-limit.js';

describe('RateLimit', () => {
  it('allows a client a number of requests per minute, and again in the next minute', () => {
    const limit = new RateLimit(2);
    expect([0, 1, 2].map((atMs) => limit.take('192.0.2.1', atMs))).toEqual([0, 0, 59_998]);
    expect(limit.take('192.0.2.2', 3)).toBe(0);
    expect(limit.take('192.0.2.1', 60_000)).toBe(0);
  });

  it('lasts a minute although the clock of the machine is set back', () => {
    const limit = new RateLimit(1);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    expect(limit.take('192.0.2.1')).toBe(0);
    clock.mockRestore();
    const waitMs = limit.take('192.0.2.1');
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(60_000);
  });

  it('counts an IPv6 network and a mapped IPv4 address as one client', () => {
    const limit = new RateLimit(1);
    expect(limit.take('2001:db8:1:2::1', 0)).toBe(0);
    expect(limit.take('2001:db8:1:2:ffff::9', 0)).toBeGreaterThan(0);
    expect(limit.take('2001:db8:1:3::1', 0)).toBe(0);
    expect(limit.take('::ffff:192.0.2.1', 0)).toBe(0);
    expect(limit.take('192.0.2.1', 0)).toBeGreaterThan(0);
  });

  // Prevents: behind a proxy that appends ports, each connection counts as a client with its own budget.
  it('ignores the port that a proxy appends to an address', () => {
    const limit = new RateLimit(1);
    expect(limit.take('192.0.2.1:50001', 0)).toBe(0);
    for (const same of ['192.0.2.1:50002', '192.0.2.1', '[::ffff:192.0.2.1]:3'])
      expect(limit.take(same, 0)).toBeGreaterThan(0);
    expect(limit.take('[2001:db8:1:2::1]:50001', 0)).toBe(0);
    for (const same of ['[2001:db8:1:2::1]:50002', '[2001:db8:1:2::9]', '2001:db8:1:2::1'])
      expect(limit.take(same, 0)).toBeGreaterThan(0);
  });

  it('counts a bounded number of clients; the others share one budget', () => {
    const limit = new RateLimit(1, 2);
    expect(['a', 'b', 'c', 'd', 'a'].map((client) => limit.take(client, 0) === 0)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it('sets no limit at zero', () => {
    const limit = new RateLimit(0);
    for (let turn = 0; turn < 1000; turn += 1) expect(limit.take('a', 0)).toBe(0);
  });
});
