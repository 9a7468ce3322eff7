import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readEnvironment } from '@tollgate/common';

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
  it('sells the weather at 1000 base units', () => {
    expect(loadPaidRoutes(config())).toMatchObject([
      {
        path: '/api/weather',
        methods: ['GET'],
        priceBaseUnits: 1_000n,
        mimeType: 'application/json',
        answer: 'stored',
      },
    ]);
  });

  it('adds the routes of the routes file', () => {
    const file = fileWith('routes: [{path: /a, price: 1, upstream: "${UPSTREAM}"}]');
    const routes = loadPaidRoutes(config({ ROUTES_FILE: file }), { UPSTREAM: 'http://upstream' });
    expect(routes.map(({ path }) => path)).toEqual(['/api/weather', '/a']);
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
