import { randomBytes } from 'node:crypto';

import type { RpcFault } from '../../libs/chain/test/rpc-stand-in.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { createProof, outcomeOf, payLocked } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';

const QUOTE = '/v1/quotes/A';
/** Long enough for healthy services, on a busy machine too. */
const DEADLINE_MS = 12_000;
const RPC_TIMEOUT_MS = 3_000;

/** Faults of the chain, and floods that try to cause them: a payer is never asked to pay again, nor kept waiting. */
describe('when the RPC server', () => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await startShop({
      env: {
        RPC_TIMEOUT_MS: String(RPC_TIMEOUT_MS),
        VERIFY_RETRY_MS: '8000',
        VERIFY_DEADLINE_MS: String(DEADLINE_MS),
        VERIFY_QUEUE_LIMIT: '200',
        MAX_IN_FLIGHT: '100',
        WAITING_PER_CLIENT: '8',
        WAITING_TOTAL: '16',
        RECEIPT_WAIT_MS: '1200',
        RPC_MAX_RESPONSE_BYTES: '1048576',
      },
    });
  });
  afterAll(() => shop?.stop());
  beforeEach(() => {
    shop.rpc.fail(undefined);
    shop.rpc.requests.length = 0;
    shop.upstream.requests.length = 0;
  });

  const buy = () => payLocked(shop.chain, shop.url(QUOTE));
  const redeem = (proof: string) => fetch(shop.url(QUOTE), { headers: { 'X-Payment': proof } });
  const anyProof = () => createProof(`0x${randomBytes(32).toString('hex')}`);

  const faults: [string, RpcFault][] = [
    ['hangs', { kind: 'hang' }],
    ['breaks connections', { kind: 'reset' }],
    ['answers 50 MB', { kind: 'flood', bytes: 52_428_800 }],
  ];

  // This runs before the faults: a client with slow or long look-ups has no share in batches for a minute.
  describe('takes its time and', () => {
    const restart = async (rpcTimeoutMs: number, deadlineMs: number) => {
      await shop.stack.verifiers[0]!.restart({ RPC_TIMEOUT_MS: String(rpcTimeoutMs) });
      await shop.stack.gateways[0]!.restart({ VERIFY_DEADLINE_MS: String(deadlineMs) });
    };
    // A request that a busy machine answers too late would be repeated: more look-ups than are counted here.
    beforeAll(() => restart(30_000, 60_000));
    afterAll(() => restart(RPC_TIMEOUT_MS, DEADLINE_MS));

    it('is flooded with random hashes, few may wait, look-ups share batches, and a payer is served meanwhile', async () => {
      const { proof } = await buy();
      shop.rpc.requests.length = 0;
      const flood = Array.from({ length: 150 }, () => outcomeOf(redeem(anyProof())));
      expect(await outcomeOf(redeem(proof))).toEqual([200, null]);
      const outcomes = (await Promise.all(flood)).map(([status, failure]) => `${status} ${failure}`);
      // 503 means that there was no room to wait: the payment's state is unknown, and the payer must not be asked for
      // another.
      expect(new Set(outcomes)).toEqual(new Set(['402 receipt_missing', '503 null']));
      const lookups = shop.rpc.requests.flat().filter((method) => method === 'eth_getTransactionReceipt').length;
      // Each hash once, and those of the 8 that may wait for one client every 250 ms of 1.2 s; twice for the remainder.
      expect(lookups).toBeLessThanOrEqual(151 + 2 * 8 * 5);
      expect(shop.rpc.requests.length).toBeLessThan(lookups / 2);
    });
  });

  it.each(faults)('%s: 503 within the deadline, and the same proof pays when it works again', async (_, fault) => {
    const { proof } = await buy();
    shop.rpc.fail(fault);
    const failed = await redeem(proof);
    // An oversized answer counts as no receipt: nothing is remembered, and the payer may repeat at once.
    expect([failed.status, failed.headers.get('Retry-After'), await failed.json()]).toMatchObject([
      503,
      '1',
      { code: 'verification_unavailable' },
    ]);
    expect(shop.upstream.requests).toEqual([]);
    shop.rpc.fail(undefined);
    await retryUntilPaid(() => redeem(proof), [409, 503]);
  });

  it('sends a body without end, at most a part of it is read', () => {
    expect(shop.rpc.floodedBytes).toBeLessThan(52_428_800);
  });

  it('hangs and the queue fills up: further requests are refused at once, and all succeed afterwards', async () => {
    const { proof } = await buy();
    shop.stack.verifiers[0]!.signal('SIGSTOP');
    const flood = Array.from({ length: 400 }, () => outcomeOf(redeem(anyProof())));
    let settled = 0;
    for (const each of flood) void each.then(() => (settled += 1));
    // Questions without room in the queue are answered before the deadline of those in it.
    await waitFor('refusals', () => settled >= 100);
    const outcomes = await Promise.all(flood);
    expect(new Set(outcomes.map(([status]) => status))).toEqual(new Set([503]));
    const metrics = await (await fetch(shop.url('/metrics'))).text();
    expect(
      Number(/tollgate_verify_questions_total\{[^}]*event="queueFull"[^}]*\} (\d+)/.exec(metrics)?.[1]),
    ).toBeGreaterThan(99);
    shop.stack.verifiers[0]!.signal('SIGCONT');
    await waitFor('an answer', async () => (await redeem(proof)).status === 200);
  });

  it('has no receipt of a payment yet: 402 with a Retry-After, and then it pays', async () => {
    const txHash = await transferTokens(shop.chain, { amountBaseUnits: 1000n });
    shop.rpc.fail({
      kind: 'rewrite',
      rewrite: (answers) =>
        answers.map((answer) => (/Transaction/.test(answer.method) ? { ...answer, result: null } : answer)),
    });
    const early = await redeem(createProof(txHash));
    expect([early.status, early.headers.get('X-Payment-Failure'), early.headers.get('Retry-After')]).toEqual([
      402,
      'receipt_missing',
      '1',
    ]);
    shop.rpc.fail(undefined);
    // On a busy machine the gateway may have asked twice, and the second question holds the payment for a moment.
    await retryUntilPaid(() => redeem(createProof(txHash)), [409, 503]);
  });
});
