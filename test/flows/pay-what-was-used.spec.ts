import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { createWallet, fetchWithPayment, type PaymentEvent, type PaymentOptions } from '@tollgate/client';

import { readChallenge, readHeader } from '../../apps/gateway/test/present-payments.js';
import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { startHttpTap, type HttpTap } from '../../tools/devnet/interop/http-tap.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { approvePermit2 } from '../harness/chain/sign-permit.js';
import { gainOf } from '../harness/payments/gain-of.js';
import { waitFor } from '../harness/retry.js';
import { startUpstream } from './start-upstream.js';

/**
 * Our own client at a metered route, with real services, real Permit2, and an upstream that reports the cost of each
 * answer.
 */
describe('the paying client at a metered route', () => {
  const folder = mkdtempSync(join(tmpdir(), 'used-'));
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let stack: Stack;
  let tap: HttpTap;
  let payer: DevnetAccount;
  let newcomer: DevnetAccount;

  beforeAll(async () => {
    upstream = await startUpstream((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'Tollgate-Charge': '0.0042' }).end('{"words":7}'),
    );
    const file = join(folder, 'routes.yaml');
    writeFileSync(
      file,
      `routes:\n  - { path: /v1/words, price: "0.01", upstream: "${upstream.url}", metered: true }\n`,
    );
    tap = await startHttpTap();
    stack = await startStack({
      env: { ROUTES_FILE: file, SIGNED_PAYMENTS: 'true', PUBLIC_URL: tap.url, LEASE_MS: '1000', RELAYER_POLL_MS: '20' },
    });
    tap.forwardTo(stack.baseUrl);
    [payer, newcomer] = [stack.chain.accounts[1]!, stack.chain.accounts[2]!];
    await approvePermit2(stack.chain, { owner: payer.address });
    await waitFor('the relayer is named', async () => (await readChallenge(url())).required.accepts.length === 2);
  }, 120_000);
  afterAll(async () => {
    await stack?.stop();
    await tap?.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  }, 120_000);
  beforeEach(() => {
    upstream.requests.length = 0;
  });
  afterEach(() => tap.interfere());

  const url = () => `${tap.url}/v1/words`;
  const buy = ({ privateKey }: DevnetAccount, change: Partial<PaymentOptions> = {}) => {
    const { rpcUrl, chainId, asset: address } = stack.chain;
    const assets = [{ network: 'chain-testnet', chainId, address, decimals: 6 }];
    const wallet = createWallet({ account: privateKey, rpcUrl, chainId });
    return fetchWithPayment(fetch, wallet, { assets, maxAmount: '0.01', ...change })(url());
  };
  const spent = async ({ address }: DevnetAccount, work: () => Promise<unknown>) =>
    -(await gainOf(stack.chain, address, work));

  it('pays the cost of its answer, not the maximum', async () => {
    const sum = await spent(payer, async () => {
      const response = await buy(payer);
      expect([response.status, await response.json()]).toEqual([200, { words: 7 }]);
      expect(readHeader(response, 'payment-response')).toMatchObject({ success: true, amount: '4200' });
    });
    expect([sum, upstream.requests.length]).toEqual([4200n, 1]);
  });

  it('pays once, and gets its answer, though the answer is lost on its way', async () => {
    let answers = 0;
    tap.interfere(async (request, send) => {
      const answer = await send(request);
      if (answer.status === 200 && answers++ === 0) throw new Error('the answer gets lost');
      return answer;
    });
    const sum = await spent(payer, async () => {
      const response = await buy(payer);
      expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    });
    expect([sum, answers, upstream.requests.length]).toEqual([4200n, 2, 1]);
  });

  // A client that accepts no metered offer pays the maximum. The gate reports it, and the caller agreed to it by
  // `maxAmount`.
  it('pays the maximum without an allowance, once, and reports it', async () => {
    const events: PaymentEvent[] = [];
    const sum = await spent(newcomer, async () => {
      const response = await buy(newcomer, { onEvent: (event) => events.push(event) });
      expect([response.status, await response.json()]).toEqual([200, { words: 7 }]);
    });
    expect([sum, upstream.requests.length]).toEqual([10_000n, 1]);
    expect(events).toMatchObject([
      { type: 'skipped', requirement: { scheme: 'upto' }, problem: { code: 'permit2_allowance_missing' } },
      { type: 'intended', price: '0.01', payment: { requirement: { scheme: 'exact' } } },
      { type: 'signed' },
      { type: 'sent' },
      { type: 'mined' },
      { type: 'redeemed' },
    ]);
  });

  it('pays nothing without an allowance where the maximum is above the limit', async () => {
    const sum = await spent(newcomer, () =>
      expect(buy(newcomer, { maxAmount: '0.009999' })).rejects.toMatchObject({ code: 'over_limit' }),
    );
    expect([sum, upstream.requests.length]).toEqual([0n, 0]);
  });

  it('pays with its command too: the full price, or with the option to approve Permit2 only the used amount', async () => {
    const run = (args: string[]) => {
      const loader = resolve('node_modules/tsx/dist/loader.mjs');
      const command = [
        resolve('packages/client/src/cli/pay.ts'),
        url(),
        '--max',
        '0.01',
        '--rpc',
        stack.chain.rpcUrl,
        '--rpc-timeout',
        '60',
      ];
      const child = spawn(process.execPath, ['--import', loader, ...command, ...args], {
        cwd: folder,
        env: {
          PATH: process.env['PATH'],
          XDG_STATE_HOME: folder,
          TSX_TSCONFIG_PATH: resolve('tsconfig.json'),
          WALLET_PRIVATE_KEY: newcomer.privateKey,
        },
      });
      const said = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk) => (said.stdout += String(chunk)));
      child.stderr.on('data', (chunk) => (said.stderr += String(chunk)));
      return new Promise<{ code: number | null; stdout: string; stderr: string }>((done) =>
        child.on('close', (code) => done({ code, ...said })),
      );
    };
    const inFull = await spent(newcomer, async () => {
      const { code, stdout, stderr } = await run([]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '{"words":7}' });
      expect(stderr).toMatch(
        /^Permit2 may move 0 of the token 0x\w+, but the payment needs 0\.01\. .* full price .* --approve AMOUNT .*\nPaying 0\.01 USDC/,
      );
    });
    expect(inFull).toBe(10_000n);
    const sum = await spent(newcomer, async () => {
      const { code, stdout, stderr } = await run(['--approve', '0.05']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '{"words":7}' });
      expect(stderr).toContain('Paying at most 0.01 USDC');
      expect(stderr).toContain('The server reports a charge of 0.0042.');
    });
    expect(sum).toBe(4200n);
  });
});
