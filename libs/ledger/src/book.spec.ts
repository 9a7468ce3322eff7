import { BOOK_GROUP, bucketEventsKey } from '@tollgate/book-events';

import { measureEvents, readEvents } from '../test/read-events.js';
import {
  HEAD_AT_BIRTH,
  leaseOf,
  SAMPLE_ANSWERED,
  SAMPLE_RELEASED,
  sampleClaim,
  sampleHash,
  sampleTransfer,
} from '../test/sample-payments.js';
import { useLedger } from '../test/use-ledger.js';
import { birthKey, bucketOf, BUCKETS, entryKey, REFUSED_COUNTS } from './keys.js';
import { Ledger } from './ledger.js';
import { OutboxFullError, readBookedSinceMs } from './outbox.js';
import { locatePayment, nameOfPayment, type PaymentId } from './payment-id.js';
import type { Lease, Refusal } from './types.js';

/** Each bucket may have two events. */
const LIMIT = 2 * BUCKETS;
/** The last id of a stream has it twice. */
const MOST = '18446744073709551615';

describe('what the ledger reports to the book', () => {
  const { redis, ledger } = useLedger({ book: { outboxLimit: LIMIT }, refusalsKept: 3 });

  beforeEach(async () => {
    await redis.flushdb();
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    await ledger.trimOutbox();
  });

  const claim = async (): Promise<Lease> => leaseOf(await ledger.claim(sampleClaim(ledger)));
  const refuse = (refusal: Partial<Refusal> = {}): Promise<boolean> =>
    ledger.recordRefusal({
      id: sampleTransfer(ledger).id,
      failure: 'payment_too_old',
      amountBaseUnits: 5n,
      ...refusal,
    });

  it('is one event for a payment that bought an answer, written with the commit', async () => {
    const lease = await claim();
    expect(await readEvents(redis)).toEqual([]);
    expect(await ledger.commit(lease, null, { facts: SAMPLE_ANSWERED })).toBe(true);
    expect(await ledger.commit(lease, null, { facts: SAMPLE_ANSWERED })).toBe(true);
    const [event, ...others] = await readEvents(redis);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: 'answered', payment: nameOfPayment(lease.id), facts: SAMPLE_ANSWERED });
    expect(event).toHaveProperty('atMs', expect.any(Number));
  });

  it('is nothing for a commit or release by a holder that was replaced', async () => {
    const [stale, lease] = [await claim(), await claim()];
    await ledger.release(stale, { counted: true });
    expect(await ledger.commit(stale, null, { facts: SAMPLE_ANSWERED })).toBe(false);
    expect(await ledger.release({ ...lease, owner: 'another' }, { counted: true }, SAMPLE_RELEASED)).toBe(false);
    expect(await readEvents(redis)).toEqual([]);
  });

  it('is the first release of a payment, however often a client has it released', async () => {
    const request = sampleClaim(ledger);
    for (const owner of ['one', 'two', 'three']) {
      const lease = leaseOf(await ledger.claim({ ...request, owner }));
      await ledger.release(lease, { counted: false }, SAMPLE_RELEASED);
    }
    const events = await readEvents(redis);
    expect(events.map(({ type }) => type)).toEqual(['released']);
    expect(events[0]).toMatchObject({ facts: SAMPLE_RELEASED });
  });

  it.each([
    ['fifth that counts', 5, '0', { counted: true }],
    ['fiftieth of a busy resource', 1, '49', { counted: false, pauseMs: 1_000 }],
  ])('is its last release too, the %s', async (_, times, pauses, terms) => {
    const request = sampleClaim(ledger);
    const facts = (number: number) => ({ ...SAMPLE_RELEASED, reason: `answered_${500 + number}` });
    const release = async (number: number, how: typeof terms | { counted: false }) => {
      const lease = leaseOf(await ledger.claim({ ...request, owner: `owner-${number}` }));
      // The same release sent twice is one.
      for (let sent = 0; sent < 2; sent++) expect(await ledger.release(lease, how, facts(number))).toBe(true);
    };
    await release(0, { counted: false });
    const { entry, slot } = locatePayment(request.candidates[0]!.id);
    await redis.hset(entryKey(bucketOf(entry), entry), `${slot}:pauses`, pauses);
    for (let number = 1; number <= times; number++) await release(number, terms);
    expect(await ledger.claim({ ...request, owner: 'late' })).toMatchObject({ failure: 'released_too_often' });
    const events = await readEvents(redis);
    expect(events).toMatchObject([{ facts: facts(0) }, { facts: facts(times) }]);
  });

  it('is no release of a payment whose money has not moved', async () => {
    await ledger.release(await claim(), { counted: true });
    const id: PaymentId = { kind: 'permit2', chainId: 1, owner: `0x${'1'.repeat(40)}`, nonce: '7' };
    const lease = leaseOf(await ledger.claim(sampleClaim(ledger, { candidates: [sampleTransfer(ledger, { id })] })));
    await ledger.releaseOwner(id, lease.owner);
    expect(await readEvents(redis)).toEqual([]);
  });

  it('is the release of a transaction whose request ended before its verdict', async () => {
    const { id, owner } = await claim();
    if (id.kind !== 'transfer') throw new Error('This is no transfer.');
    await ledger.releaseOwner(id, owner);
    const [event] = await readEvents(redis);
    expect(event).toMatchObject({ type: 'released', payment: nameOfPayment(id), facts: { reason: 'request_ended' } });
  });

  it('is one refusal with a count, which is reported when it has doubled', async () => {
    const { id } = sampleTransfer(ledger);
    const payTo = `0x${'5b'.repeat(20)}` as const;
    for (let time = 1; time <= 100; time++) expect(await refuse({ id, payTo })).toBe(time === 1);
    const events = await readEvents(redis, nameOfPayment(id));
    expect(events.map((event) => event.type === 'refused' && event.facts.count)).toEqual([1, 2, 4, 8, 16, 32, 64]);
    const facts = { failure: 'payment_too_old', amount: '5', payTo, logIndex: 0, payer: null };
    expect(events[0]).toMatchObject({ facts });
  });

  it('forgets the counts of refusals that are no longer listed', async () => {
    for (let time = 0; time < 10; time++) await refuse();
    expect(await redis.hlen(REFUSED_COUNTS)).toBe(3);
  });

  it('is nothing for a day of proofs that move no money', async () => {
    const candidate = sampleTransfer(ledger, { minedAtMs: ledger.nowMs() - 86_400_000 });
    for (let time = 0; time < 1000; time++) {
      const found = await ledger.find({ chainId: 1, txHash: sampleHash(), fingerprint: 'x', retryKey: 'y' });
      expect(found.outcome).toBe('none');
      // A transaction that pays and is too old is recorded by the verifier, with what the chain shows of it.
      expect(await ledger.claim(sampleClaim(ledger, { candidates: [candidate] }))).toMatchObject({
        outcome: 'refused',
      });
    }
    expect(await measureEvents(redis)).toBe(0);
  });

  it('is nothing at all while the book is off', async () => {
    const off = new Ledger({ redis: redis, chainIds: [1328], timeoutMs: 30_000 });
    await off.open();
    const lease = leaseOf(await off.claim(sampleClaim(off)));
    await off.commit(lease, null, { facts: SAMPLE_ANSWERED });
    await off.release(leaseOf(await off.claim(sampleClaim(off))), { counted: true }, SAMPLE_RELEASED);
    await off.recordRefusal({ id: lease.id, failure: 'payment_too_old' });
    expect(await measureEvents(redis)).toBe(0);
    expect(await redis.exists(REFUSED_COUNTS)).toBe(0);
  });

  describe('from when on it is complete', () => {
    const off = (): Ledger => new Ledger({ redis: redis, chainIds: [1328], timeoutMs: 30_000 });

    it('is since the first process with the book on', async () => {
      const sinceMs = await readBookedSinceMs(redis, [1328]);
      expect(sinceMs).toBeGreaterThan(ledger.nowMs() - 60_000);
      await ledger.open();
      expect(await readBookedSinceMs(redis, [1328])).toBe(sinceMs);
    });

    it('is never, once a process starts with the book off, and anew after it was turned on', async () => {
      const first = await readBookedSinceMs(redis, [1328]);
      await off().open();
      expect(await readBookedSinceMs(redis, [1328])).toBeNull();
      await ledger.open();
      expect(await readBookedSinceMs(redis, [1328])).toBeGreaterThanOrEqual(first!);
    });

    it('ends with a payment that is not reported', async () => {
      const lease = await claim();
      const birth = birthKey(bucketOf(locatePayment(lease.id).entry), 1328);
      await off().commit(lease, null);
      expect(await redis.hget(birth, 'booked')).toBeNull();
      expect(await readBookedSinceMs(redis, [1328])).toBeNull();
    });

    it('begins with a payment that is reported, if a process without the book was the last to start', async () => {
      const lease = await claim();
      const birth = birthKey(bucketOf(locatePayment(lease.id).entry), 1328);
      await off().open();
      await ledger.commit(lease, null, { facts: SAMPLE_ANSWERED });
      expect(Number(await redis.hget(birth, 'booked'))).toBeGreaterThan(0);
    });
  });

  it('is written before what it reports: a stream that takes no entry changes no payment', async () => {
    const [sold, other] = [await claim(), await claim()];
    const refund = { id: sold.id, refund: 'refund-1', reason: null, allowsAnswered: true };
    const paid = {
      refund: 'refund-1',
      transaction: sampleHash(),
      amount: '5',
      recipient: `0x${'1'.repeat(40)}`,
    } as const;
    const steps: [Lease, () => Promise<unknown>][] = [
      [other, () => ledger.release(other, { counted: true }, SAMPLE_RELEASED)],
      [sold, () => ledger.commit(sold, null, { facts: SAMPLE_ANSWERED })],
      [sold, async () => (await ledger.close(refund)).outcome === 'closed'],
      [sold, () => ledger.recordRefunded(sold.id, paid)],
    ];
    for (const [{ id }, step] of steps) {
      const stream = bucketEventsKey(bucketOf(locatePayment(id).entry));
      await redis.del(stream);
      await redis.xadd(stream, `${MOST}-${MOST}`, 'v', '1');
      await expect(step()).rejects.toThrow(/exhausted/);
      await redis.del(stream);
      expect(await step()).toBe(true);
      expect(await readEvents(redis, nameOfPayment(id))).toHaveLength(1);
    }
  });

  describe('while the outbox is full', () => {
    const fill = (bucket: number): Promise<unknown> =>
      Promise.all([1, 2].map(() => redis.xadd(bucketEventsKey(bucket), '*', 'v', '1')));

    it('takes no payment that the ledger does not know', async () => {
      const request = sampleClaim(ledger);
      const bucket = bucketOf(locatePayment(request.candidates[0]!.id).entry);
      await fill(bucket);
      await expect(ledger.claim(request)).rejects.toThrow(OutboxFullError);
      await redis.xtrim(bucketEventsKey(bucket), 'MAXLEN', 1);
      expect(await ledger.claim(request)).toMatchObject({ outcome: 'claimed' });
    });

    it('commits what was claimed, and takes a payment again that was released', async () => {
      const request = sampleClaim(ledger);
      const lease = leaseOf(await ledger.claim(request));
      await fill(bucketOf(locatePayment(lease.id).entry));
      await ledger.release(lease, { counted: true }, SAMPLE_RELEASED);
      const again = leaseOf(await ledger.claim({ ...request, owner: 'another' }));
      expect(await ledger.commit(again, null, { facts: SAMPLE_ANSWERED })).toBe(true);
      const events = await readEvents(redis, nameOfPayment(lease.id));
      expect(events.map(({ type }) => type)).toEqual(['released', 'answered']);
    });

    it('takes no new payment either if the refusals alone fill it', async () => {
      for (let time = 0; time < LIMIT; time++) await refuse();
      expect(await ledger.trimOutbox()).toEqual({ payments: 0, refused: LIMIT });
      await expect(ledger.claim(sampleClaim(ledger))).rejects.toThrow(OutboxFullError);
    });
  });

  it('is trimmed once the bookkeeper has acknowledged it', async () => {
    const lease = await claim();
    await ledger.commit(lease, null, { facts: SAMPLE_ANSWERED });
    const stream = bucketEventsKey(bucketOf(locatePayment(lease.id).entry));
    await redis.xgroup('CREATE', stream, BOOK_GROUP, '0');
    await redis.xreadgroup('GROUP', BOOK_GROUP, 'one', 'STREAMS', stream, '>');
    expect(await ledger.trimOutbox()).toEqual({ payments: 1, refused: 0 });
    const [[id]] = (await redis.xrange(stream, '-', '+')) as [[string, string[]]];
    await redis.xack(stream, BOOK_GROUP, id);
    expect(await ledger.trimOutbox()).toEqual({ payments: 0, refused: 0 });
  });
});
