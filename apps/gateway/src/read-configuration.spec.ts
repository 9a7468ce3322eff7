import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ConfigurationError } from '@tollgate/config';

import { readConfiguration } from './read-configuration.js';

const complete = {
  CHALLENGE_SECRET: 'a-secret-of-more-than-thirty-two-characters',
  PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  ASSET_ADDRESS: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
};

describe('readConfiguration', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'configuration-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  function withRoutes(routes: unknown[]): Record<string, string> {
    const file = join(folder, 'routes.json');
    writeFileSync(file, JSON.stringify({ routes }));
    return { ROUTES_FILE: file };
  }

  /** The setting or place that each problem names. */
  function problemsOf(env: Record<string, string>): string[] {
    try {
      readConfiguration(env);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.problems.map(
        (problem) => /^[A-Z_]+|routes\[\d\]\.\w+/.exec(problem.replace(/^ROUTES_FILE /, ''))![0],
      );
    }
    return [];
  }

  it('reads settings and routes', () => {
    const env = { ...complete, ...withRoutes([{ path: '/a', price: '1', upstream: '${API}' }]), API: 'http://api' };
    const { environment, routes } = readConfiguration(env);
    expect(environment.payment.assetDecimals).toBe(6);
    expect(routes.map(({ path }) => path)).toEqual(['/a']);
  });

  it('lists the problems of settings and routes together', () => {
    const routes = [{ path: '/a', price: '0', upstream: 'api' }];
    const env = {
      ...withRoutes(routes),
      PORT: 'four',
      WEATHER_PRICE: '0',
      WEATHER_SOURCE: 'open-meteo',
      WEATHER_URL: 'x',
    };
    expect(problemsOf(env).sort()).toEqual(
      [
        ...Object.keys(complete),
        'PORT',
        'WEATHER_PRICE',
        'WEATHER_URL',
        'routes[0].price',
        'routes[0].upstream',
      ].sort(),
    );
  });

  it('reports no problem of a route that only follows from an invalid setting', () => {
    const sold = { price: '0.0000000001', upstream: 'http://api' };
    const routes = [
      { ...sold, path: '/a', metered: true },
      { ...sold, path: '/b', revisitSeconds: 60 },
    ];
    const settings = { ASSET_DECIMALS: 'six', SIGNED_PAYMENTS: 'yes', PUBLIC_URL: 'here', WEATHER_PRICE: 'free' };
    expect(problemsOf({ ...complete, ...withRoutes(routes), ...settings }).sort()).toEqual(
      Object.keys(settings).sort(),
    );
  });

  describe('the time limit of a route', () => {
    const sold = { path: '/a', price: '1', upstream: 'http://api', timeoutMs: 285_000 };
    const read = (route: object, settings = {}) =>
      readConfiguration({ ...complete, SIGNED_PAYMENTS: 'true', ...settings, ...withRoutes([{ ...sold, ...route }]) });

    it.each([
      ['stored', {}, {}],
      ['streamed', { answer: 'streamed' }, {}],
      ['short, with a long settlement', { timeoutMs: 100 }, { MAX_TIMEOUT_SECONDS: '60', SETTLE_DEADLINE_MS: '60000' }],
    ])('must leave time to settle a signed payment: %s', (_, route, settings) => {
      expect(() => read(route, settings)).toThrow(
        /\/a: timeoutMs .*SETTLE_DEADLINE_MS \(\d+\).*MAX_TIMEOUT_SECONDS \(\d+\)/,
      );
    });

    it.each([
      ['with a moment left', { timeoutMs: 284_000 }, {}],
      ['with payments that are valid for longer', {}, { MAX_TIMEOUT_SECONDS: '301' }],
      ['that is settled first', { settle: 'before' }, {}],
      ['without signed payments', {}, { SIGNED_PAYMENTS: 'false' }],
    ])('may be long on a route %s', (_, route, settings) => {
      expect(read(route, settings).routes).toHaveLength(1);
    });
  });

  describe('the head of a 402', () => {
    const offered = { ...complete, SIGNED_PAYMENTS: 'true', PUBLIC_URL: 'https://api.example', WEATHER_SOURCE: 'off' };
    const sold = { price: '1', upstream: 'http://api' };
    const read = (...routes: object[]) => readConfiguration({ ...offered, ...withRoutes(routes) });

    it('is no matter up to 4 KiB', () => {
      expect(read({ ...sold, path: '/a', description: '語'.repeat(200) }).warnings).toEqual([]);
      const unsigned = {
        ...withRoutes([{ ...sold, path: '/v/:a', description: '語'.repeat(500) }]),
        SIGNED_PAYMENTS: 'false',
      };
      expect(readConfiguration({ ...offered, ...unsigned }).warnings).toEqual([]);
    });

    it.each([
      ['a long description', { path: '/a', description: '語'.repeat(500) }],
      ['a long path', { path: '/v/:a' }],
    ])('above 4 KiB is a warning that names the setting of the proxy: %s', (_, route) => {
      expect(read({ ...sold, path: '/b' }, { ...sold, ...route }).warnings).toEqual([
        expect.stringMatching(`^${route.path}: .*proxy_buffer_size`),
      ]);
    });

    it.each([
      [
        'a media type without end',
        { path: '/a', mimeType: `text/plain;${'a'.repeat(9000)}` },
        / \/a: .* 1\d,\d{3} bytes/,
      ],
      [
        'a sign-in',
        {
          path: '/v/:a',
          revisitSeconds: 60,
          description: '👋'.repeat(500),
          mimeType: `a/b;${'c'.repeat(900)}`,
        },
        / \/v\/:a: .* 8,\d{3} bytes/,
      ],
      ['a path that nobody may send', { path: `/${'a'.repeat(1024)}` }, /path \(line 1\): is longer than 1,024 bytes/],
    ])('above 8 KiB is refused: %s', (_, route, problem) => {
      expect(() => read({ ...sold, ...route })).toThrow(problem);
    });
  });
});
