import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { PaymentRequiredV2, SignedPermit } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import type { Hex } from 'viem';

import {
  payloadOf,
  presentMetered,
  presentV2,
  readChallenge,
  readHeader,
} from '../../apps/gateway/test/present-payments.js';
import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { approvePermit2, signPermit } from '../harness/chain/sign-permit.js';
import { gainOf } from '../harness/payments/gain-of.js';
import { waitForPool } from '../harness/payments/wait-for-pool.js';
import { waitFor } from '../harness/retry.js';
import { startUpstream } from './start-upstream.js';

const MAXIMUM = 10_000n;

/** An upstream that reports the cost of each answer, with real services, chain and Permit2. */
describe('a metered route', () => {
  const folder = mkdtempSync(join(tmpdir(), 'metered-'));
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let stack: Stack;
  let payer: DevnetAccount;
  let charge: string;

  beforeAll(async () => {
    upstream = await startUpstream((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'Tollgate-Charge': charge }).end('{"words":7}'),
    );
    const file = join(folder, 'routes.yaml');
    const route = `{ path: /v1/words, price: "0.01", upstream: "${upstream.url}", metered: true }`;
    writeFileSync(file, `routes:\n  - ${route}\n  - ${route.replace('words', 'plain').replace('true', 'false')}\n`);
    stack = await startStack({
      env: {
        ROUTES_FILE: file,
        SIGNED_PAYMENTS: 'true',
        LEASE_MS: '1000',
        SETTLE_DEADLINE_MS: '20000',
        RELAYER_POLL_MS: '20',
      },
    });
    payer = stack.chain.accounts[1]!;
    await approvePermit2(stack.chain, { owner: payer.address });
    await waitFor('the relayer is named', async () => (await offer()).accepts.length === 2);
  }, 120_000);

  afterAll(async () => {
    await stack?.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  }, 120_000);

  beforeEach(() => {
    upstream.requests.length = 0;
    charge = '0.0042';
  });

  const url = (path = '/v1/words') => stack.baseUrl + path;
  const call = (method: string, params: unknown[] = []) => callRpc(stack.chain.rpcUrl, method, params);
  const offer = async (): Promise<PaymentRequiredV2> => (await readChallenge(url())).required;
  const get = (headers: Record<string, string>, path?: string) => fetch(url(path), { headers });

  /** Signs the payer's maximum, bound to the facilitator of the challenge. */
  async function sign(signer = payer): Promise<{ permit: SignedPermit; headers: Record<string, string> }> {
    const required = await offer();
    const { facilitatorAddress } = required.accepts[1]!.extra as { facilitatorAddress: Hex };
    const deadline = BigInt(Math.floor(Date.now() / 1000) + 300);
    const terms = { amountBaseUnits: MAXIMUM, facilitator: facilitatorAddress, deadline };
    const permit = await signPermit(stack.chain, signer, terms);
    return { permit, headers: presentMetered({ required }, permit) };
  }

  /** Repeats until the lease of a killed process has ended, and a relayer is there. */
  async function getUntilPaid(headers: Record<string, string>): Promise<Response> {
    let response = await get(headers);
    await waitFor('it is answered', async () => {
      if (response.status !== 200) {
        expect([409, 503]).toContain(response.status);
        response = await get(headers);
      }
      return response.status === 200;
    });
    return response;
  }

  /** The amount that the ledger has fixed for a permit. */
  async function readAmount(redis: Redis, { permit2Authorization: { from, nonce } }: SignedPermit) {
    const [key] = await redis.keys(`tollgate:*permit:1328:${from}:${nonce}`);
    return key === undefined ? null : redis.hget(key, 'permit:amount');
  }

  /** Runs the work, and returns the amount that it moved from the payer to the seller. */
  async function moved(work: () => Promise<void>): Promise<bigint> {
    let received = 0n;
    const spent = await gainOf(stack.chain, payer.address, async () => {
      received = await gainOf(stack.chain, stack.chain.payTo, work);
    });
    expect(received + spent).toBe(0n);
    return received;
  }

  it('moves the amount that the upstream charged, once, and passes its header to no client', async () => {
    const { headers } = await sign();
    const sum = await moved(async () => {
      const first = await get(headers);
      expect([first.status, await first.json()]).toEqual([200, { words: 7 }]);
      expect(first.headers.has('tollgate-charge')).toBe(false);
      const receipt = readHeader(first, 'payment-response');
      expect(receipt).toMatchObject({ success: true, amount: '4200', payer: payer.address.toLowerCase() });
      const mined = (await call('eth_getTransactionReceipt', [receipt.transaction])) as { status: Hex };
      expect(mined.status).toBe('0x1');
      const again = await get(headers);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
      expect(readHeader(again, 'payment-response')).toEqual(receipt);
    });
    expect([sum, upstream.requests.length]).toEqual([4200n, 1]);
  });

  it.each([
    ['0', 200, 0n, ''],
    ['0.01', 200, 10_000n, ''],
    ['0.010001', 502, 0n, 'charged 0.010001, which is 0.010001 USDC and exceeds the agreed maximum of 0.01 USDC'],
    ['a little', 502, 0n, 'a little'],
  ])('charged %s answers %i and moves %i', async (said, status, expected, reason) => {
    charge = said;
    const { headers } = await sign();
    expect(await moved(async () => expect((await get(headers)).status).toBe(status))).toBe(expected);
    if (status === 502) await waitFor('the log says why', () => stack.logs().includes(reason));
  });

  it('takes the exact price by Permit2 beside it, as every route does', async () => {
    const permit = await signPermit(stack.chain, payer, { amountBaseUnits: MAXIMUM });
    const challenge = await readChallenge(url('/v1/plain'));
    const sum = await moved(async () => {
      const response = await get(presentV2(challenge, payloadOf(permit)), '/v1/plain');
      expect([response.status, response.headers.has('tollgate-charge')]).toEqual([200, false]);
    });
    expect(sum).toBe(MAXIMUM);
  });

  // Prevents: a client that repeats its request after a crash is charged twice, or another amount than the one in
  // flight.
  it('moves the amount of the first answer when its gateway died before the end was known', async () => {
    const { headers } = await sign();
    await call('evm_setAutomine', [false]);
    const sum = await moved(async () => {
      try {
        const lost = get(headers).catch(() => 'lost');
        await waitForPool(stack.chain.rpcUrl);
        await stack.gateways[0]!.kill('SIGKILL');
        expect(await lost).toBe('lost');
        await stack.gateways[0]!.restart();
        charge = '0.0099';
      } finally {
        await call('evm_mine');
        await call('evm_setAutomine', [true]);
      }
      const response = await getUntilPaid(headers);
      expect(readHeader(response, 'payment-response')).toMatchObject({ success: true, amount: '4200' });
    });
    expect(sum).toBe(4200n);
  });

  it('moves the amount of the first answer when its gateway died before anything was sent', async () => {
    const { permit, headers } = await sign();
    const redis = new Redis(stack.redis.url);
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const { answer: ordinary } = upstream;
    upstream.answer = (request, response) => void asked.then(() => ordinary(request, response));
    try {
      const lost = get(headers).catch(() => 'lost');
      await waitFor('the upstream is asked', () => upstream.requests.length === 1);
      // No process is left to settle: the amount is fixed, and the question waits.
      await stack.verifiers[0]!.kill('SIGKILL');
      answer();
      await waitFor('the amount is fixed', async () => (await readAmount(redis, permit)) === '4200');
      await stack.gateways[0]!.kill('SIGKILL');
      expect(await lost).toBe('lost');
      await redis.del('tollgate:{settle-1328}:requests');
    } finally {
      redis.disconnect();
      upstream.answer = ordinary;
    }
    await Promise.all([stack.verifiers[0]!.restart(), stack.gateways[0]!.restart()]);
    charge = '0.0099';
    const sum = await moved(async () => {
      const response = await getUntilPaid(headers);
      expect(readHeader(response, 'payment-response')).toMatchObject({ success: true, amount: '4200' });
    });
    expect([sum, upstream.requests.length > 1]).toEqual([4200n, true]);
  });
});
