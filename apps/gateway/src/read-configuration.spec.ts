import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ConfigurationError } from '@tollgate/common';

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
    expect(routes.map(({ path }) => path)).toEqual(['/api/weather', '/a']);
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
});
