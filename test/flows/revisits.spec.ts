import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createSignInMessage, encodeJsonHeader, encodeProof, parseChallenge } from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import { presentV2, readChallenge } from '../../apps/gateway/test/present-payments.js';
import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { deployBatchPayer } from '../harness/chain/deploy.js';
import { startUpstream } from './start-upstream.js';

/** Real services, chain and Redis: a client that has paid at one gateway comes back to another. */
describe('a route that may be revisited', () => {
  const folder = mkdtempSync(join(tmpdir(), 'revisits-'));
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let stack: Stack;

  beforeAll(async () => {
    upstream = await startUpstream((_, response) => response.end('sold'));
    const file = join(folder, 'routes.yaml');
    const route = `{ path: "/v1/quotes/:symbol", price: "0.01", upstream: "${upstream.url}", revisitSeconds: 3600 }`;
    writeFileSync(file, `routes:\n  - ${route}\n`);
    const env = {
      ROUTES_FILE: file,
      SIGNED_PAYMENTS: 'true',
      PUBLIC_URL: 'https://shop.example',
      RELAYER_POLL_MS: '20',
    };
    stack = await startStack({ gateways: 2, env });
  }, 120_000);

  afterAll(async () => {
    await stack?.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  }, 120_000);

  const url = (path: string, gateway = 0) => stack.gateways[gateway]!.url + path;

  /** Signs in at a challenge as published clients do. */
  async function signIn({ privateKey, address }: DevnetAccount, path: string, gateway = 0): Promise<Response> {
    const account = privateKeyToAccount(privateKey);
    const { extensions } = (await readChallenge(url(path, gateway))).required;
    const { info } = extensions!['sign-in-with-x'] as { info: Parameters<typeof createSignInMessage>[0] };
    const chainId = 'eip155:1328';
    const message = createSignInMessage({ ...info, network: chainId }, address);
    const signature = await account.signMessage({ message });
    const signed = encodeJsonHeader({ ...info, chainId, type: 'eip191', address, signature });
    return fetch(url(path, gateway), { headers: { 'SIGN-IN-WITH-X': signed } });
  }

  it('is open to a client that has paid by a signature, at every gateway, and after all of them have restarted', async () => {
    const payer = stack.chain.accounts[0]!;
    const path = '/v1/quotes/SEI';
    expect((await signIn(payer, path)).headers.get('x-sign-in-failure')).toBe('not_paid');
    const { signature, authorization } = await signAuthorization(stack.chain, payer, { value: '10000' });
    const headers = presentV2(await readChallenge(url(path)), { signature, authorization });
    expect((await fetch(url(path), { headers })).status).toBe(200);
    const back = await signIn(payer, path, 1);
    expect([back.status, await back.text()]).toEqual([200, 'sold']);
    await Promise.all(stack.gateways.map((gateway) => gateway.kill('SIGKILL')));
    await stack.redis.kill();
    await stack.redis.start();
    await Promise.all(stack.gateways.map((gateway) => gateway.restart()));
    expect((await signIn(payer, path)).status).toBe(200);
    expect((await signIn(stack.chain.accounts[1]!, path)).headers.get('x-sign-in-failure')).toBe('not_paid');
    expect((await signIn(payer, '/v1/quotes/BTC')).headers.get('x-sign-in-failure')).toBe('not_paid');
  });

  it('is open to a contract wallet that has paid, whose owner signs for it', async () => {
    const path = '/v1/quotes/ATOM';
    const wallet = await deployBatchPayer(stack.chain);
    const txHash = await wallet.pay([{ amountBaseUnits: 10_000n }]);
    const network = 'chain-testnet';
    const proof = encodeProof({ x402Version: 1, scheme: 'exact', network, payload: { txHash } });
    expect((await fetch(url(path), { headers: { 'X-Payment': proof } })).status).toBe(200);
    const [owner, stranger] = [stack.chain.accounts[0]!, stack.chain.accounts[1]!];
    const { address } = wallet;
    expect((await signIn({ ...owner, address }, path)).status).toBe(200);
    expect((await signIn({ ...stranger, address }, path)).headers.get('x-sign-in-failure')).toBe('not_paid');
  });

  it('is open to a client that has paid by a transaction of its own', async () => {
    const path = '/v1/quotes/ETH';
    const [terms] = parseChallenge(await (await fetch(url(path))).json()).accepts;
    const { network, maxAmountRequired, extra } = terms!;
    const { reference } = extra;
    const amountBaseUnits = BigInt(maxAmountRequired);
    const txHash = await transferTokens(stack.chain, { amountBaseUnits, lockReference: reference });
    const proof = encodeProof({ x402Version: 1, scheme: 'exact', network, payload: { txHash, reference } });
    expect((await fetch(url(path), { headers: { 'X-Payment': proof } })).status).toBe(200);
    expect((await signIn(stack.chain.accounts[0]!, path, 1)).status).toBe(200);
  });
});
