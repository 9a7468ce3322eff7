import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Hex } from '@tollgate/protocol';

import { presentV1, readHeader } from '../../apps/gateway/test/present-payments.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { sendTransaction, transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import type { ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { createProof, outcomeOf, payLocked } from '../harness/payments/pay.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { useStack } from '../harness/stack/use-stack.js';

/** A busy machine needs this long where a test expects the answer to its only request. */
const PATIENCE = { VERIFY_DEADLINE_MS: '60000', SETTLE_DEADLINE_MS: '60000', RPC_TIMEOUT_MS: '30000' };
const NOT_YET = [409, 503] as const;
const POLICY = { setting: 'PAYMENT_POLICY', gateway: 'transfer', verifier: 'receipt' };
jest.setTimeout(240_000);

/**
 * The verifier is replaced under a running gateway; a gateway whose policy differs at its start never becomes ready.
 */
describe('a verifier with another payment policy than its gateway', () => {
  const stack = useStack({ relayers: 1, env: { SIGNED_PAYMENTS: 'true', ...PATIENCE } });
  const gateway = () => stack().gateways[0]!;
  const verifier = () => stack().verifiers[0]!;
  const show = (txHash: Hex) =>
    fetch(`${stack().baseUrl}/api/weather`, { headers: { 'X-Payment': createProof(txHash) } });
  const readiness = async ({ url }: ServiceProcess) => {
    const response = await fetch(`${url}/health/ready`);
    return { status: response.status, body: (await response.json()) as { details?: Record<string, unknown> } };
  };
  const untilReady = (status: number) =>
    waitFor(`the gateway's readiness is ${status}`, async () => (await readiness(gateway())).status === status);

  async function expectUnavailable(...hashes: Hex[]): Promise<void> {
    const responses = await Promise.all(hashes.map(show));
    expect(responses.map(({ status }) => status)).toEqual(hashes.map(() => 503));
    for (const response of responses) {
      expect(await response.json()).toMatchObject({ code: 'verification_unavailable' });
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const isSaid = (hash: Hex) =>
      gateway()
        .logs()
        .split('\n')
        .some((line) => line.includes(hash) && line.includes('settings_differ'));
    // A verifier that a busy machine kept from replying in time is asked again: it has given no reason.
    await waitFor('the log says why', async () => {
      const unsaid = hashes.filter((hash) => !isSaid(hash));
      await Promise.all(unsaid.map(show));
      return unsaid.length === 0;
    });
  }

  it('judges and settles by a payments file as by the settings that it stands for', async () => {
    const { chain } = stack();
    const folder = mkdtempSync(join(tmpdir(), 'payments-file-'));
    const file = join(folder, 'payments.yaml');
    writeFileSync(
      file,
      `chains:
  devnet: { id: ${chain.chainId}, network: chain-testnet, rpc: '\${DEVNET_RPC}', relayers: '\${DEVNET_KEYS}' }
accepts:
  coin: { chain: devnet, token: ${chain.asset}, decimals: 6, symbol: USDC, version: '2', payTo: '${chain.payTo}' }
`,
    );
    const replaced = {
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(chain.chainId),
      ASSET_ADDRESS: chain.asset,
      PAY_TO: chain.payTo,
    };
    const keys = chain.relayers[0]!.privateKey;
    const none = Object.fromEntries(Object.keys(replaced).map((name) => [name, '']));
    await verifier().restart({
      ...none,
      ...{ PAYMENTS_FILE: file, RELAYER_PRIVATE_KEYS: '', DEVNET_RPC: chain.rpcUrl, DEVNET_KEYS: keys },
    });
    const payment = await signAuthorization(chain, chain.accounts[0]!, { value: '1000' });
    const buy = () => fetch(`${stack().baseUrl}/api/weather`, { headers: presentV1(payment) });
    await retryUntilPaid(buy, NOT_YET);
    await verifier().restart({ ...replaced, PAYMENTS_FILE: '', RELAYER_PRIVATE_KEYS: keys });
    rmSync(folder, { recursive: true });
  });

  it('accepts neither an unrelated transaction nor that of a settled signature, and reports the difference', async () => {
    const { chain } = stack();
    const payment = await signAuthorization(chain, chain.accounts[0]!, { value: '1000' });
    const bought = await fetch(`${stack().baseUrl}/api/weather`, { headers: presentV1(payment) });
    expect(bought.status).toBe(200);
    const settled = readHeader(bought, 'x-payment-response')['transaction'] as Hex;
    const keys = chain.relayers[0]!.privateKey;
    await verifier().restart({ PAYMENT_POLICY: 'receipt', RELAYER_PRIVATE_KEYS: '' });

    const unrelated = await sendTransaction(chain, { to: chain.accounts[1]!.address, data: '0x' });
    await expectUnavailable(unrelated, settled);
    await untilReady(503);

    const { status, body } = await readiness(verifier());
    expect(status).toBe(200);
    expect(body.details?.['settings']).toMatchObject({ status: 'up', differ: [[POLICY]] });
    const metrics = await (await fetch(`${verifier().url}/metrics`)).text();
    expect(metrics).toMatch(
      /tollgate_verifier_settings_differ_total\{option="default",setting="PAYMENT_POLICY".*\} [1-9]/,
    );
    const linesOf = (level: number) =>
      verifier()
        .logs()
        .split('\n')
        .filter((line) => line.includes(`"level":${level}`) && line.includes('PAYMENT_POLICY'));
    expect(linesOf(40)).toEqual([expect.stringContaining('PAYMENT_POLICY=receipt')]);
    expect(linesOf(50)).toEqual([expect.stringContaining('PAYMENT_POLICY is transfer there and receipt here')]);

    await verifier().restart({ PAYMENT_POLICY: 'transfer', RELAYER_PRIVATE_KEYS: keys });
    await untilReady(200);
    expect(await outcomeOf(show(settled))).toEqual([402, 'payment_used']);
    expect(await outcomeOf(show(await transferTokens(chain, { amountBaseUnits: 1000n })))).toEqual([200, null]);
  });

  it('accepts no unbound payment for a gateway that requires bound ones', async () => {
    const { chain } = stack();
    const bound = { PAYMENT_POLICY: 'bound' };
    await Promise.all([verifier().restart(bound), gateway().restart(bound)]);
    const txHash = await transferTokens(chain, { amountBaseUnits: 1000n });
    expect(await outcomeOf(show(txHash))).toEqual([402, 'not_bound']);
    await verifier().restart({ PAYMENT_POLICY: 'transfer' });
    await expectUnavailable(txHash);
  });
});

/**
 * In the order of docs/change-prices-and-secrets.md: half of the verifiers, with a relayer of their own, the gateways, the other
 * verifiers.
 */
describe('a setting that is changed under load', () => {
  const stack = useStack({ gateways: 2, verifiers: 2, relayers: 2, env: { SIGNED_PAYMENTS: 'true', ...PATIENCE } });
  const keys = (count: number) =>
    stack()
      .chain.relayers.slice(0, count)
      .map(({ privateKey }) => privateKey)
      .join();

  it('costs no payer an answer', async () => {
    const { chain, gateways, verifiers } = stack();
    await verifiers[1]!.restart({ RELAYER_PRIVATE_KEYS: keys(1) });
    const away = new Set<ServiceProcess>();
    // As behind a load balancer that removes a gateway before it is stopped.
    const url = () => `${gateways.find((one) => !away.has(one))!.url}/api/weather`;
    let isOver = false;
    // On a busy machine the agreeing verifier may not get a question within three seconds; the answer then is 503, and
    // 409 while that question holds the payment.
    let locked = 0;
    const payLockedOnes = async () => {
      for (; !isOver; locked += 1) {
        const { proof } = await payLocked(chain, url());
        await retryUntilPaid(() => fetch(url(), { headers: { 'X-Payment': proof } }), NOT_YET);
      }
    };
    let signed = 0;
    const paySignedOnes = async () => {
      for (; !isOver; signed += 1) {
        const headers = presentV1(await signAuthorization(chain, chain.accounts[1]!, { value: '1000' }));
        await retryUntilPaid(() => fetch(url(), { headers }), NOT_YET);
      }
    };
    const buyers = [payLockedOnes(), payLockedOnes(), paySignedOnes()];
    const untilSomeHavePaid = async () => {
      const before = [locked, signed] as const;
      await waitFor('some have paid', () => locked > before[0] + 10 && signed > before[1] + 1);
    };
    const change = async (service: ServiceProcess, env: Record<string, string> = {}) => {
      await service.restart({ PAYMENT_POLICY: 'bound', ...env });
      away.delete(service);
      await untilSomeHavePaid();
    };
    try {
      await change(verifiers[0]!, { RELAYER_PRIVATE_KEYS: keys(2) });
      for (const gateway of gateways) {
        away.add(gateway);
        await untilSomeHavePaid();
        await change(gateway);
      }
      await change(verifiers[1]!, { RELAYER_PRIVATE_KEYS: keys(2) });
    } finally {
      isOver = true;
      await Promise.all(buyers);
    }
    const bare = await transferTokens(chain, { amountBaseUnits: 1000n });
    for (const gateway of gateways) {
      const shown = fetch(`${gateway.url}/api/weather`, { headers: { 'X-Payment': createProof(bare) } });
      expect(await outcomeOf(shown)).toEqual([402, 'not_bound']);
    }
  });
});
