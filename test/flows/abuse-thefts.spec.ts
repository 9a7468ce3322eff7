import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { createProof, outcomeOf, payLocked, readRequirement } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';

/** Thieves try to use another's payment: a transaction's hash is public, its challenge's reference is not. */
describe('a locked payment', () => {
  let shop: Shop;
  let answer: RequestListener;

  beforeAll(async () => {
    shop = await startShop({ gateways: 2, env: { RECEIPT_WAIT_MS: '0' } });
    answer = shop.upstream.answer;
  });
  afterAll(() => shop?.stop());
  beforeEach(() => {
    shop.upstream.requests.length = 0;
    shop.upstream.answer = answer;
  });

  const quote = '/v1/quotes/A';
  const buy = (path = quote, init?: RequestInit) => payLocked(shop.chain, shop.url(path), init);
  const redeem = (proof: string, { path = quote, key = '', gateway = 0, ...init }: RedeemOptions = {}) =>
    fetch(shop.url(path, gateway), {
      ...init,
      headers: { 'X-Payment': proof, ...(key ? { 'Idempotency-Key': key } : {}) },
    });

  it('is served to its payer, though a thief shows its hash first', async () => {
    const { txHash, proof } = await buy();
    const own = await readRequirement(shop.url(quote));
    const forged = own.extra.reference.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const thieves = [
      [createProof(txHash), 'lock_mismatch'],
      [createProof(txHash, { reference: own.extra.reference }), 'lock_mismatch'],
      [createProof(txHash, { reference: forged }), 'unknown_reference'],
      [createProof(txHash, { reference: 'chain-1-a' }), 'unknown_reference'],
    ] as const;
    for (const [stolen, failure] of thieves) expect(await outcomeOf(redeem(stolen))).toEqual([402, failure]);
    expect(shop.upstream.requests).toEqual([]);
    expect(await outcomeOf(redeem(proof))).toEqual([200, null]);
    for (const [stolen, failure] of thieves) expect(await outcomeOf(redeem(stolen))).toEqual([402, failure]);
  });

  it('replays no answer to a client that guesses the Idempotency-Key and lacks its reference', async () => {
    const { txHash, proof } = await buy();
    const paid = await redeem(proof, { key: '1' });
    expect(paid.status).toBe(200);
    const { extra } = await readRequirement(shop.url(quote));
    for (const stolen of [createProof(txHash), createProof(txHash, { reference: extra.reference })]) {
      expect(await outcomeOf(redeem(stolen, { key: '1' }))).toEqual([402, 'lock_mismatch']);
    }
    const again = await redeem(proof, { key: '1' });
    expect([again.headers.get('Idempotent-Replayed'), await again.text()]).toEqual(['true', await paid.text()]);
  });

  it('shares an Idempotency-Key with other payments, and no answer', async () => {
    const payments = [await buy(), await buy()];
    const answers = await Promise.all(payments.map(async ({ proof }) => (await redeem(proof, { key: '1' })).text()));
    expect(new Set(answers).size).toBe(2);
    expect(shop.upstream.requests).toHaveLength(2);
  });

  it('buys what its challenge was for: no other route, method, path, query or body', async () => {
    const { proof, txHash } = await buy('/v1/things', { method: 'POST', body: 'order' });
    for (const path of ['/v1/quotes/A', '/v1/files/v1/things', '/api/weather']) {
      expect(await outcomeOf(redeem(proof, { path }))).toEqual([402, 'unknown_reference']);
      expect(await outcomeOf(redeem(createProof(txHash), { path }))).toEqual([402, 'lock_mismatch']);
    }
    expect(await outcomeOf(redeem(proof, { path: '/v1/things' }))).toEqual([402, 'unknown_reference']);
    const order = { path: '/v1/things', method: 'POST', body: 'order' };
    expect(await outcomeOf(redeem(proof, order))).toEqual([200, null]);
    for (const changes of [{ body: 'two orders' }, { path: '/v1/things?two' }, { path: '/v1/things?', body: '' }]) {
      expect((await redeem(proof, { ...order, ...changes })).status).toBe(409);
      expect((await redeem(proof, { ...order, ...changes, key: 'new' })).status).not.toBe(200);
    }
    expect(shop.upstream.requests).toHaveLength(1);
  });

  it('for one path parameter buys no other one, even if it paid more', async () => {
    const { proof } = await buy('/v1/quotes/A');
    expect(await outcomeOf(redeem(proof, { path: '/v1/quotes/B' }))).toEqual([402, 'unknown_reference']);
    const { extra } = await readRequirement(shop.url('/v1/deep/A'));
    const txHash = await transferTokens(shop.chain, { amountBaseUnits: 1000n, lockReference: extra.reference });
    const cheap = createProof(txHash, { reference: extra.reference });
    expect(await outcomeOf(redeem(cheap, { path: '/v1/deep/A' }))).toEqual([402, 'amount_too_low']);
  });

  it('made for a challenge that a cache gave to two clients is lost to neither', async () => {
    const challenge = await fetch(shop.url(quote));
    expect(challenge.headers.get('Cache-Control')).toBe('no-store');
    const { extra } = await readRequirement(shop.url(quote));
    const { reference } = extra;
    const proofs = [];
    for (const account of shop.chain.accounts.slice(0, 2)) {
      const terms = { amountBaseUnits: 1000n, lockReference: reference, from: account.address };
      proofs.push(createProof(await transferTokens(shop.chain, terms), { reference }));
    }
    for (const proof of proofs) expect(await outcomeOf(redeem(proof))).toEqual([200, null]);
  });

  it('that is released while other requests retry is answered once', async () => {
    let calls = 0;
    let succeeded = 0;
    shop.upstream.answer = (_, response) => {
      calls += 1;
      if (calls <= 4) return void setTimeout(() => response.writeHead(500).end('no'), 20);
      succeeded += 1;
      setTimeout(() => response.end(`answer ${succeeded}`), 20);
    };
    const { proof } = await buy();
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        for (;;) {
          const response = await redeem(proof, { gateway: index % 2 });
          const body = await response.text();
          if (response.status === 200) return body;
          expect([409, 500, 503]).toContain(response.status);
          await sleep(10);
        }
      }),
    );
    expect(new Set(answers)).toEqual(new Set(['answer 1']));
    expect([calls, succeeded]).toEqual([5, 1]);
  });

  it('is spent once when the same proof arrives under two spellings of one header', async () => {
    const [one, two] = [await buy(), await buy()];
    const repeated = await fetch(shop.url(quote), {
      headers: [
        ['X-Payment', one.proof],
        ['x-payment', two.proof],
      ],
    });
    expect(await outcomeOf(repeated)).toEqual([402, 'malformed_proof']);
    expect(shop.upstream.requests).toEqual([]);
    for (const { proof } of [one, two]) expect(await outcomeOf(redeem(proof))).toEqual([200, null]);
  });
});

type RedeemOptions = RequestInit & { path?: string; key?: string; gateway?: number };
