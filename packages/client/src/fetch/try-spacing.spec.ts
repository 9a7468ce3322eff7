import { TrySpacing } from './try-spacing.js';

describe('the tries of a released payment', () => {
  it('are four at most within the deadline where the resource fails', () => {
    const spacing = new TrySpacing(60_000);
    const delays = Array.from({ length: 4 }, () => spacing.delayMs(200, 'failure'));
    expect(delays).toEqual([4_000, 8_000, 16_000, 32_000]);
  });

  it('are forty at most within the deadline where it is busy, and none before the time that was told', () => {
    const spacing = new TrySpacing(60_000);
    expect([0, 5_000, 3_600_000].map((toldMs) => spacing.delayMs(toldMs, 'busy'))).toEqual([1_500, 5_000, 3_600_000]);
    expect(spacing.delayMs(200, 'failure')).toBe(4_000);
  });

  it('come when the server says where they use nothing up', () => {
    expect(new TrySpacing(60_000).delayMs(0, null)).toBe(0);
  });

  // Prevents: a timer that is set for too long fires at once, and the server is asked without a pause.
  it.each([Infinity, 1e23])('are never further apart than a day, with %d ms', (ms) => {
    const spacing = new TrySpacing(ms);
    for (const uses of ['failure', 'busy', null] as const) expect(spacing.delayMs(ms, uses)).toBe(86_400_000);
  });
});
