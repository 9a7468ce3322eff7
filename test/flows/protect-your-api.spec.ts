import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { keysOf } from '@tollgate/config';

import { RouteDescription } from '../../apps/gateway/src/resources/routes-file/route-description.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { waitFor } from '../harness/retry.js';

const EXAMPLE = 'examples/protect-your-api';
const page = readFileSync('docs/protect-your-api.md', 'utf8');
const routes = readFileSync(`${EXAMPLE}/routes.yaml`, 'utf8');

describe('docs/protect-your-api.md', () => {
  let api: ChildProcess;
  let stack: Stack;
  const folder = mkdtempSync(join(tmpdir(), 'protect-your-api-'));

  beforeAll(async () => {
    api = spawn(process.execPath, [`${EXAMPLE}/server.mjs`], {
      env: { PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [apiUrl] = await new Promise<string[]>((resolve, reject) => {
      createInterface(api.stdout!).once('line', (line) => resolve(/http:\/\/[^/]+/.exec(line) ?? [line]));
      api.once('error', reject);
    });
    const file = join(folder, 'routes.yaml');
    writeFileSync(file, routes.replace('http://localhost:9000', apiUrl!));
    stack = await startStack({ env: { ROUTES_FILE: file } });
  });

  afterAll(async () => {
    await stack?.stop();
    api.kill();
    rmSync(folder, { recursive: true });
  });

  /** The command of the page, with options for this devnet. */
  const pay = (path: string) => {
    const chain = ['--rpc', stack.chain.rpcUrl, '--rpc-timeout', '60', '--pay-to', stack.chain.payTo];
    const where = [...chain, '--store', join(folder, 'payments')];
    const command = [
      'scripts/typescript.cjs',
      'packages/client/src/cli/pay.ts',
      stack.baseUrl + path,
      '--max',
      '0.01',
      ...where,
    ];
    const env = { PATH: process.env['PATH'], WALLET_PRIVATE_KEY: stack.chain.accounts[0]!.privateKey };
    return promisify(execFile)(process.execPath, command, { env });
  };

  it('shows a routes file that sells the example', async () => {
    expect(page).toContain(routes);
    const unpaid = await fetch(`${stack.baseUrl}/v1/quotes/SEI`);
    expect(unpaid.status).toBe(402);
    expect(await unpaid.json()).toMatchObject({ accepts: [{ description: 'The last price of a symbol' }] });
    const { stdout } = await pay('/v1/quotes/SEI');
    expect(JSON.parse(stdout)).toEqual({ symbol: 'SEI', price: '0.4212', currency: 'USD' });
  });

  it('states correctly that an error of the API spends no payment', async () => {
    await expect(pay('/v1/quotes/NOPE')).rejects.toMatchObject({ code: 5, stdout: '{"error":"no such symbol"}' });
    await waitFor('the line about it', () => stack.gateways[0]!.logs().includes('answered: released'));
  });

  it('names every key of a route with its default, and no other', () => {
    const [, section = ''] = /\n## The routes file\n(.*?)\n## /s.exec(page) ?? [];
    const rows = [...section.matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm)].map(([, key, value]) => [key, value]);
    const keys = rows.map(([key]) => key);
    expect(keys).toEqual(expect.arrayContaining([...keysOf(RouteDescription)]));
    expect(keys).toHaveLength(keysOf(RouteDescription).length);
    const { methods, mimeType, answer, chargeOn, timeoutMs, passCredentials } = new RouteDescription();
    const shown = { methods: `[${methods.join(', ')}]`, mimeType, answer, chargeOn, timeoutMs, passCredentials };
    expect(Object.fromEntries(rows)).toMatchObject(
      Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, `\`${value}\``])),
    );
  });
});
