import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readEnvironment } from '@tollgate/config';

import { GatewayEnvironment } from '../config/gateway.config.js';
import { loadPaidRoutes } from './load-paid-routes.js';

function config(settings: Record<string, string> = {}): GatewayEnvironment {
  return readEnvironment(GatewayEnvironment, {
    PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    ASSET_ADDRESS: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
    CHALLENGE_SECRET: 'a-secret-of-more-than-thirty-two-characters',
    ...settings,
  });
}

function fileWith(content: string | Buffer): string {
  const file = join(mkdtempSync(join(tmpdir(), 'routes-')), 'routes.yaml');
  writeFileSync(file, content);
  return file;
}

describe('loadPaidRoutes', () => {
  it('sells the weather for 0.001', () => {
    expect(loadPaidRoutes(config())).toMatchObject([
      {
        path: '/api/weather',
        methods: ['GET'],
        price: '0.001',
        mimeType: 'application/json',
        answer: 'stored',
      },
    ]);
  });

  it.each<[settings: Record<string, string>, path: string, sold: string[]]>([
    [{}, '/a', ['/a']],
    [{}, '/api/weather', ['/api/weather']],
    [{}, '/api/*', ['/api/*']],
    [{ WEATHER_PRICE: '0' }, '/a', ['/a']],
    [{ WEATHER_SOURCE: 'off' }, '/api/weather', ['/api/weather']],
    [{ WEATHER_SOURCE: 'sample' }, '/a', ['/a', '/api/weather']],
    [{ WEATHER_SOURCE: 'open-meteo' }, '/a', ['/a', '/api/weather']],
  ])('sells the weather beside a routes file only if asked to, and after it: %j, %s', (settings, path, sold) => {
    const file = fileWith(`routes: [{path: ${path}, price: 1, upstream: "\${UPSTREAM}"}]`);
    const routes = loadPaidRoutes(config({ ...settings, ROUTES_FILE: file }), { UPSTREAM: 'http://upstream' });
    expect(routes.map((route) => route.path)).toEqual(sold);
  });

  it.each(['/api/weather', '/API/Weather', '/api/weather/today', '/api/:what'])(
    'refuses the route %s beside a weather that is sold',
    (path) => {
      const file = fileWith(JSON.stringify({ routes: [{ path, price: '1', upstream: 'http://api' }] }));
      const both = config({ ROUTES_FILE: file, WEATHER_SOURCE: 'sample' });
      expect(() => loadPaidRoutes(both)).toThrow('overlaps /api/weather');
    },
  );

  it('sells nothing where the weather is off and there is no routes file', () => {
    expect(loadPaidRoutes(config({ WEATHER_SOURCE: 'off' }))).toEqual([]);
  });

  it.each(['0', '0.0000001'])('refuses the weather price %s', (price) => {
    expect(() => loadPaidRoutes(config({ WEATHER_PRICE: price }))).toThrow('WEATHER_PRICE');
  });

  it('names the file in every problem', () => {
    const file = fileWith('routes: [{}]');
    const path = `ROUTES_FILE ${file}: routes[0].path (line 1): is missing.`;
    expect(() => loadPaidRoutes(config({ ROUTES_FILE: file }))).toThrow(path);
  });

  it('reports a file that is missing, a folder or not text', () => {
    const missing = join(tmpdir(), 'nowhere', 'routes.yaml');
    expect(() => loadPaidRoutes(config({ ROUTES_FILE: missing }))).toThrow(`${missing} does not exist`);
    expect(() => loadPaidRoutes(config({ ROUTES_FILE: tmpdir() }))).toThrow('cannot be read (EISDIR)');
    const binary = fileWith(Buffer.from([0xff, 0xfe, 0x00]));
    expect(() => loadPaidRoutes(config({ ROUTES_FILE: binary }))).toThrow('is not UTF-8 text');
  });
});
