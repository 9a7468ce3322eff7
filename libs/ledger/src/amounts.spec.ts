import { setTimeout as sleep } from 'node:timers/promises';

import { formatDetails } from '../../../tools/cli/payments/payments.js';
import { leaseOf, sampleClaim } from '../test/sample-payments.js';
import { useLedger } from '../test/use-ledger.js';
import { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
import { locatePayment } from './payment-id.js';
import { showPayments } from './read-payments.js';
import type { ClaimRequest } from './types.js';

describe('the fixed amount of a metered payment', () => {
  const { redis, ledger } = useLedger();

  const claim = async (overrides: Partial<ClaimRequest> = {}) => {
    const request = sampleClaim(ledger, { retryKey: hashRetryKey('mine'), ...overrides });
    return { request, lease: leaseOf(await ledger.claim(request)) };
  };
  const again = async (request: ClaimRequest) =>
    leaseOf(await ledger.claim({ ...request, owner: createOwner(), leaseMs: 30_000 }));

  it('is the first amount given', async () => {
    const { lease } = await claim();
    expect(await ledger.fixAmount(lease, 300n)).toBe(300n);
    expect(await ledger.fixAmount(lease, 900n)).toBe(300n);
    const [details, ...others] = await showPayments(redis, locatePayment(lease.id).entry);
    expect([details!.meteredBaseUnits, others]).toEqual(['300', []]);
    expect(formatDetails([details!])).toMatch(/came to +300 base units/);
  });

  it('may be zero, or larger than a JavaScript number', async () => {
    const [free, dear] = [(await claim()).lease, (await claim()).lease];
    expect([await ledger.fixAmount(free, 0n), await ledger.fixAmount(free, 1n)]).toEqual([0n, 0n]);
    expect(await ledger.fixAmount(dear, 2n ** 256n - 1n)).toBe(2n ** 256n - 1n);
  });

  // Prevents: after a gateway died before it knew the settlement's result, the next attempt moves another amount.
  it('outlives its holder, and a release', async () => {
    const { request, lease } = await claim({ leaseMs: 1 });
    await ledger.fixAmount(lease, 300n);
    await sleep(5);
    const second = await again(request);
    expect(await ledger.fixAmount(second, 900n)).toBe(300n);
    await ledger.release(second, { counted: false });
    expect(await ledger.fixAmount(await again(request), 900n)).toBe(300n);
  });

  // Prevents: a payer charged little for one request gets a more expensive one, while the small amount may still be
  // moved.
  it('belongs to the request that it was fixed for, with a key and without one', async () => {
    const fingerprint = createFingerprint({ method: 'GET', path: '/api/dear', query: '' });
    for (const retryKey of [hashRetryKey('mine'), null]) {
      const { request, lease } = await claim({ retryKey });
      await ledger.fixAmount(lease, 300n);
      await ledger.release(lease, { counted: false });
      expect(await ledger.claim({ ...request, owner: createOwner(), fingerprint })).toEqual({ outcome: 'conflict' });
    }
  });

  it('is forgotten if nothing can move it any more', async () => {
    const { request, lease } = await claim();
    await ledger.fixAmount(lease, 300n);
    await ledger.release(lease, { counted: true, forgetsAmount: true });
    const fingerprint = createFingerprint({ method: 'GET', path: '/api/dear', query: '' });
    expect(await ledger.fixAmount(await again({ ...request, fingerprint }), 900n)).toBe(900n);
  });

  // Prevents: of two permits with one nonce the second fails, and the small amount that the first may have moved buys
  // anything.
  it('is not forgotten by a later holder, which cannot know what may still move it', async () => {
    for (const retryKey of [hashRetryKey('mine'), null]) {
      const { request, lease } = await claim({ retryKey });
      await ledger.fixAmount(lease, 300n);
      await ledger.release(lease, { counted: false });
      const second = await again(request);
      expect(await ledger.fixAmount(second, 900n)).toBe(300n);
      expect(await ledger.release(second, { counted: true, forgetsAmount: true })).toBe(true);
      const fingerprint = createFingerprint({ method: 'GET', path: '/api/dear', query: '' });
      expect(await ledger.claim({ ...request, owner: createOwner(), fingerprint })).toEqual({ outcome: 'conflict' });
      expect(await ledger.fixAmount(await again(request), 900n)).toBe(300n);
    }
  });

  it('cannot be fixed or forgotten by a holder whose lease was taken over', async () => {
    const { request, lease } = await claim({ leaseMs: 1 });
    await sleep(5);
    const second = await again(request);
    expect(await ledger.fixAmount(lease, 900n)).toBeNull();
    await ledger.fixAmount(second, 300n);
    expect(await ledger.release(lease, { counted: true, forgetsAmount: true })).toBe(false);
    expect(await ledger.fixAmount(second, 900n)).toBe(300n);
    await ledger.commit(second, null);
    expect(await ledger.fixAmount(second, 900n)).toBeNull();
  });

  it('is not fixed for a payment claimed before the ledger lost data', async () => {
    const { lease } = await claim();
    await redis.flushall();
    expect(await ledger.fixAmount(lease, 300n)).toBeNull();
  });
});

describe('the receipt of a payment', () => {
  const { ledger } = useLedger();

  it('is kept if the answer is not', async () => {
    const take = async () => leaseOf(await ledger.claim(sampleClaim(ledger)));
    const [streamed, stored, silent] = [await take(), await take(), await take()];
    await ledger.commit(streamed, null, { receipt: 'receipt' });
    await ledger.commit(stored, { status: 200, headers: [], body: Buffer.from('x') }, { receipt: 'receipt' });
    await ledger.commit(silent, null);
    expect(await ledger.readReceipt(streamed.id)).toBe('receipt');
    expect(await ledger.readReceipt(stored.id)).toBeNull();
    expect(await ledger.readReceipt(silent.id)).toBeNull();
  });
});
