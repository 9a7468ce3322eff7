import { pauseMsOf, tellPause } from './busy.js';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

describe('a busy resource', () => {
  it.each([
    ['7', 7_000],
    ['0', 1_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thu, 01 Jan 2020 00:00:00 GMT', 1_000],
    ['soon', 5_000],
    ['', 5_000],
    ['86400', 86_400_000],
    ['9'.repeat(400), 604_800_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 604_800_000],
  ])('that answers Retry-After: %.40s is left alone for %d ms', (text, pauseMs) => {
    for (const status of [429, 503])
      expect(pauseMsOf({ status, headers: [['retry-AFTER', text]] }, NOW_MS)).toBe(pauseMs);
  });

  it('is left alone for five seconds where it says nothing, and not at all where it is not busy', () => {
    expect(pauseMsOf({ status: 503, headers: [] }, NOW_MS)).toBe(5_000);
    expect(pauseMsOf({ status: 500, headers: [['Retry-After', '7']] }, NOW_MS)).toBe(0);
  });

  it('is told of once', () => {
    const headers = [
      ['X-Own', '1'],
      ['retry-after', '9999'],
      ['Retry-After', 'x'],
    ] as const;
    expect(tellPause(headers, 1_500)).toEqual([
      ['X-Own', '1'],
      ['Retry-After', '2'],
    ]);
    expect(tellPause(headers, 0)).toEqual(headers);
  });
});
