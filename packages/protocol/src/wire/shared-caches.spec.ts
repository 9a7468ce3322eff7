import { instructsSharedCaches, keepPrivate } from './shared-caches.js';

describe('keepPrivate', () => {
  it.each([
    ['public, max-age=60', 'private, max-age=60'],
    ['s-maxage=60', 'private'],
    ['S-MaxAge=60, max-age=0 , must-revalidate', 'private, max-age=0, must-revalidate'],
    ['no-store', 'private, no-store'],
    ['private="x", No-Store', 'private, No-Store'],
    ['private="x", no-cache', 'private, no-cache'],
    ['private="x, \\"public", no-cache="set-cookie, x"', 'private, no-cache="set-cookie, x"'],
    ['no-cache="x', 'private, no-cache="x'],
    ['', 'private'],
    [undefined, 'private'],
  ])('turns "%s" into "%s"', (given, expected) => {
    expect(keepPrivate(given)).toBe(expected);
  });
});

describe('instructsSharedCaches', () => {
  it.each([
    ...['CDN-Cache-Control', 'Surrogate-Control', 'Edge-Control', 'X-Accel-Expires'],
    ...['Akamai-Cache-Control', 'X-LiteSpeed-Cache-Control', 'cloudflare-cdn-cache-control'],
  ])('is true for %s', (name) => {
    expect(instructsSharedCaches(name)).toBe(true);
  });

  it.each(['Cache-Control', 'Expires', 'Vary', 'Access-Control-Allow-Origin'])('is false for %s', (name) => {
    expect(instructsSharedCaches(name)).toBe(false);
  });
});
