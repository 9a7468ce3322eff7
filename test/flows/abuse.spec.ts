import { setTimeout as sleep } from 'node:timers/promises';

import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { deployBatchPayer } from '../harness/chain/deploy.js';
import { createProof, outcomeOf } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';
import { waitFor } from '../harness/retry.js';

const PRICE = 1000n;

/**
 * Requests without a valid payment, and repeated use of one: two gateways, two verifiers, a real chain, no shared lock.
 */
describe('one payment', () => {
  let shop: Shop;

  beforeAll(async () => {
    // A busy machine needs this long for a thousand requests at once.
    const patience = { VERIFY_DEADLINE_MS: '60000', VERIFY_RETRY_MS: '30000' };
    shop = await startShop({ gateways: 2, verifiers: 2, env: { RECEIPT_WAIT_MS: '0', ...patience } });
  });
  afterAll(() => shop?.stop());
  beforeEach(() => {
    shop.rpc.requests.length = 0;
    shop.upstream.requests.length = 0;
  });

  const pay = (amountBaseUnits = PRICE) => transferTokens(shop.chain, { amountBaseUnits });
  const redeem = (proof: string, { path = '/v1/quotes/A', key = '', gateway = 0 } = {}) =>
    fetch(shop.url(path, gateway), { headers: { 'X-Payment': proof, ...(key ? { 'Idempotency-Key': key } : {}) } });
  const lookups = () => shop.rpc.requests.flat().filter((method) => method === 'eth_getTransactionReceipt').length;

  it('presented by 1,000 requests at once, to two gateways, buys one answer', async () => {
    const proof = createProof(await pay());
    const outcomes = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => outcomeOf(redeem(proof, { gateway: index % 2 }))),
    );
    const counts = new Map<string, number>();
    for (const outcome of outcomes) counts.set(outcome.join(), (counts.get(outcome.join()) ?? 0) + 1);
    const { '200,': answered = 0, '402,payment_used': used = 0, ...others } = Object.fromEntries(counts);
    // Busy or, on a busy machine, unavailable: 503 says that it is unknown whether the payment bought an answer.
    const { '409,': busy = 0, '503,': unavailable = 0 } = others;
    expect({ refused: 1000 - answered, counts }).toMatchObject({ refused: busy + used + unavailable });
    expect(answered).toBeLessThanOrEqual(1);
    // A 503 may have gone to the request that bought the answer. Then no other request gets it.
    if (answered === 0) {
      expect(unavailable).toBeGreaterThan(0);
      await waitFor('the payment is used', async () => {
        const outcome = (await outcomeOf(redeem(proof))).join();
        expect(['200,', '402,payment_used', '409,', '503,']).toContain(outcome);
        return outcome === '200,' || outcome === '402,payment_used';
      });
    }
    expect(shop.upstream.requests).toHaveLength(1);
  });

  it('presented by 1,000 requests with one Idempotency-Key buys one answer, and all get its bytes', async () => {
    const proof = createProof(await pay());
    const bodies = await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => {
        for (;;) {
          const response = await redeem(proof, { key: 'one', gateway: index % 2 });
          const body = await response.text();
          if (response.status === 200) return { body, isReplay: response.headers.has('Idempotent-Replayed') };
          // Both statuses ask for a repeat: the payment is being redeemed, or a busy machine did not get to it in time.
          expect([409, 503]).toContain(response.status);
          expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
          await sleep(Number(response.headers.get('Retry-After')) * 1000);
        }
      }),
    );
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
    expect(bodies.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(shop.upstream.requests).toHaveLength(1);
  });

  it('is the same in upper and lower case, and each answer repeats its spelling', async () => {
    const txHash = await pay();
    const upper = `0x${txHash.slice(2).toUpperCase()}`;
    const first = await redeem(createProof(upper), { path: '/api/weather', key: 'k' });
    expect(await first.json()).toMatchObject({ payment: { isValid: true, txHash: upper } });
    expect(await outcomeOf(redeem(createProof(txHash), { path: '/api/weather' }))).toEqual([402, 'payment_used']);
    const again = await redeem(createProof(txHash), { path: '/api/weather', key: 'k' });
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true']);
  });

  it('is accepted on its own network only: a proof for another causes no chain look-up', async () => {
    const txHash = await pay();
    const proof = (changes: object) =>
      Buffer.from(
        JSON.stringify({ x402Version: 1, scheme: 'exact', network: 'chain-testnet', payload: { txHash }, ...changes }),
      ).toString('base64');
    expect(await outcomeOf(redeem(proof({ network: 'base' })))).toEqual([402, 'wrong_network']);
    expect(await outcomeOf(redeem(proof({ scheme: 'upto' })))).toEqual([402, 'wrong_scheme']);
    expect(await outcomeOf(redeem(proof({ x402Version: 2 })))).toEqual([402, 'wrong_version']);
    expect(await outcomeOf(redeem(proof({ x402Version: '1' })))).toEqual([402, 'wrong_version']);
    expect(lookups()).toBe(0);
    expect(await outcomeOf(redeem(proof({})))).toEqual([200, null]);
    expect(lookups()).toBe(1);
  });

  it('of the lower price does not buy the more expensive route, and is not spent by the attempt', async () => {
    const proof = createProof(await pay());
    expect(await outcomeOf(redeem(proof, { path: '/v1/deep/A' }))).toEqual([402, 'amount_too_low']);
    expect(await outcomeOf(redeem(proof))).toEqual([200, null]);
    // Replayed on another route: one route's answer is not sent for the other.
    expect((await redeem(proof, { path: '/v1/quotes/B' })).status).toBe(409);
  });

  it('of a transaction with three transfers buys three answers, and no fourth', async () => {
    const wallet = await deployBatchPayer(shop.chain);
    const proof = createProof(await wallet.pay([1, 2, 3].map(() => ({ amountBaseUnits: PRICE }))));
    const keys = ['a', 'b', 'c', 'd'];
    const first = await Promise.all(keys.map((key, index) => redeem(proof, { key, gateway: index % 2 })));
    // The fourth may arrive while the others are made. It then gets 409 and repeats.
    const statuses = await Promise.all(
      first.map(async (response, index) => {
        if (response.status !== 409) return response.status;
        return (await redeem(proof, { key: keys[index]! })).status;
      }),
    );
    expect(statuses.sort()).toEqual([200, 200, 200, 402]);
    expect(shop.upstream.requests).toHaveLength(3);
    expect(new Set(shop.upstream.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(3);
  });

  it('is not found in a header of something else, and causes no chain look-up', async () => {
    const response = await redeem(Buffer.from('null').toString('base64'));
    const { error } = (await response.json()) as { error?: string };
    expect([response.status, error]).toEqual([402, 'Invalid payment format or network']);
    expect(lookups()).toBe(0);
  });
});
