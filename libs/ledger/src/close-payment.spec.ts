import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { RefundedFacts } from '@tollgate/book-events';

import { readEvents } from '../test/read-events.js';
import {
  HEAD_AT_BIRTH,
  leaseOf,
  SAMPLE_ANSWERED,
  sampleClaim,
  sampleHash,
  sampleTransfer,
  SAMPLE_RELEASED,
} from '../test/sample-payments.js';
import { useLedger } from '../test/use-ledger.js';
import { createOwner } from './create-keys.js';
import { bucketOf, entryKey } from './keys.js';
import { Ledger } from './ledger.js';
import { locatePayment, nameOfPayment, type PaymentId } from './payment-id.js';
import { listPayments } from './read-payments.js';

const REFUNDED = { outcome: 'refused', failure: 'payment_refunded' };
const ANSWER = { status: 200, headers: [] as [string, string][], body: Buffer.from('sunny') };

describe('closing a payment for a refund', () => {
  const { redis, ledger } = useLedger({ book: { outboxLimit: 1_000_000 } });

  const close = (id: PaymentId, allowsAnswered = false) =>
    ledger.close({ id, refund: 'refund-1', reason: 'asked for', allowsAnswered });
  const ttlOf = (id: PaymentId): Promise<number> => {
    const { entry } = locatePayment(id);
    return redis.pttl(entryKey(bucketOf(entry), entry));
  };

  it('is known of the payment alone, not of the others of its transaction', async () => {
    const { id } = sampleTransfer(ledger);
    if (id.kind !== 'transfer') throw new Error(id.kind);
    expect(await ledger.isClosed(id)).toBe(false);
    await close(id);
    expect(await ledger.isClosed(id)).toBe(true);
    expect(await ledger.isClosed({ ...id, logIndex: id.logIndex + 1 })).toBe(false);
  });

  it('refuses a payment that the ledger did not know, whoever presents it, and never forgets it', async () => {
    const request = sampleClaim(ledger, { retryKey: 'key' });
    const { id } = request.candidates[0]!;
    expect(await close(id)).toEqual({ outcome: 'closed', from: 'free' });
    expect(await ledger.claim(request)).toEqual({ ...REFUNDED, id });
    expect(await ledger.claim({ ...request, retryKey: null })).toEqual({ ...REFUNDED, id });
    expect(await ttlOf(id)).toBe(-1);
    // Its redemption window is over, and the reason stays the refund.
    const old = { ...request.candidates[0]!, minedAtMs: ledger.nowMs() - 86_400_000 };
    expect(await ledger.claim({ ...request, candidates: [old] })).toEqual({ ...REFUNDED, id });
    expect(await ledger.close({ id, refund: 'refund-2', reason: null, allowsAnswered: true })).toEqual({
      outcome: 'closed_before',
      by: 'refund-1',
      sinceMs: expect.any(Number),
      paid: [],
    });
    const { payments } = await listPayments(redis, { state: 'refunding', limit: 1000 });
    expect(payments).toContainEqual(expect.objectContaining({ id, hasRetryKey: false }));
  });

  it('reports it once, with the state it was in', async () => {
    const { id } = sampleTransfer(ledger);
    await close(id);
    await close(id);
    const facts = { from: 'free', refund: 'refund-1', reason: 'asked for' };
    expect(await readEvents(redis, nameOfPayment(id))).toEqual([
      { type: 'refunding', atMs: expect.any(Number), payment: nameOfPayment(id), facts },
    ]);
  });

  it('refuses a payment that was released, and answers its retry key without asking the chain', async () => {
    const request = sampleClaim(ledger, { retryKey: 'key' });
    const lease = leaseOf(await ledger.claim(request));
    await ledger.release(lease, { counted: true }, SAMPLE_RELEASED);
    expect(await close(lease.id)).toEqual({ outcome: 'closed', from: 'released' });
    expect(await ledger.claim({ ...request, owner: 'another' })).toEqual({ ...REFUNDED, id: lease.id });
    const { fingerprint } = request;
    const entry = { chainId: lease.id.chainId, txHash: 'txHash' in lease.id ? lease.id.txHash : sampleHash() };
    expect(await ledger.find({ ...entry, fingerprint, retryKey: 'key' })).toEqual(REFUNDED);
    expect(await ledger.whySpent(entry)).toBe('payment_refunded');
    expect(await ttlOf(lease.id)).toBe(-1);
  });

  it('says which refund closed it, and since when it is closed for each', async () => {
    const { id } = sampleTransfer(ledger);
    const closeFor = (refund: string) => ledger.close({ id, refund, reason: null, allowsAnswered: false });
    const startedAt = ledger.nowMs();
    await closeFor('refund-1');
    const [first, second] = [await closeFor('refund-1'), await closeFor('refund-2')];
    await sleep(20);
    expect(await closeFor('refund-1')).toEqual(first);
    expect(await closeFor('refund-2')).toEqual(second);
    expect([first, second]).toMatchObject([{ by: 'refund-1' }, { by: 'refund-1' }]);
    if (first.outcome !== 'closed_before' || second.outcome !== 'closed_before') throw new Error('it is not closed');
    expect(first.sinceMs).toBeGreaterThanOrEqual(startedAt - 1000);
    expect(second.sinceMs).toBeGreaterThanOrEqual(first.sinceMs);
  });

  it('leaves a payment alone that a request holds', async () => {
    const lease = leaseOf(await ledger.claim(sampleClaim(ledger)));
    expect(await close(lease.id)).toMatchObject({ outcome: 'leased' });
    expect(await close(lease.id, true)).toMatchObject({ outcome: 'leased' });
    expect(await ledger.commit(lease, null, { facts: SAMPLE_ANSWERED })).toBe(true);
  });

  it('closes a payment whose holder is gone, which can then neither commit, renew nor release', async () => {
    const lease = leaseOf(await ledger.claim(sampleClaim(ledger, { leaseMs: 1 })));
    await sleep(5);
    expect(await close(lease.id)).toEqual({ outcome: 'closed', from: 'expired' });
    expect(await ledger.commit(lease, ANSWER, { facts: SAMPLE_ANSWERED })).toBe(false);
    expect(await ledger.renew(lease, 60_000)).toBe(false);
    expect(await ledger.release(lease, { counted: false })).toBe(false);
    expect(await ledger.fixAmount(lease, 5n)).toBeNull();
    await ledger.releaseOwner(lease.id, lease.owner);
    expect(await ledger.claim(sampleClaim(ledger, { candidates: [sampleTransfer(ledger, { id: lease.id })] }))).toEqual(
      { ...REFUNDED, id: lease.id },
    );
  });

  it('closes a payment that bought an answer only if that is meant, and replays the answer no more', async () => {
    const request = sampleClaim(ledger, { retryKey: 'key' });
    const lease = leaseOf(await ledger.claim(request));
    await ledger.commit(lease, ANSWER, { facts: SAMPLE_ANSWERED });
    expect(await close(lease.id)).toEqual({ outcome: 'answered' });
    expect(await ledger.readAnswer(lease.id)).toEqual(ANSWER);
    expect(await close(lease.id, true)).toEqual({ outcome: 'closed', from: 'answered' });
    expect(await ledger.readAnswer(lease.id)).toBeNull();
    expect(await ledger.countReproduction(lease.id, 5)).toEqual({ outcome: 'exhausted' });
    expect(await ledger.claim({ ...request, owner: 'another' })).toEqual({ ...REFUNDED, id: lease.id });
  });

  it('leaves the other transfers of the transaction, and their entry without an expiry', async () => {
    const txHash = sampleHash();
    const candidates = [0, 1].map((logIndex) =>
      sampleTransfer(ledger, { id: { kind: 'transfer', chainId: 1328, txHash, logIndex } }),
    );
    await close(candidates[0]!.id);
    const result = await ledger.claim(sampleClaim(ledger, { candidates }));
    expect(leaseOf(result).id).toEqual(candidates[1]!.id);
    expect(await ttlOf(candidates[0]!.id)).toBe(-1);
  });

  it('closes a transaction in the form in which it was presented', async () => {
    const txHash = sampleHash();
    const whole = sampleTransfer(ledger, { id: { kind: 'transaction', chainId: 1328, txHash } });
    const transfer: PaymentId = { kind: 'transfer', chainId: 1328, txHash, logIndex: 0 };
    await ledger.release(leaseOf(await ledger.claim(sampleClaim(ledger, { candidates: [whole] }))), { counted: true });
    expect(await close(transfer)).toEqual({ outcome: 'other_form' });
    expect(await close(whole.id)).toEqual({ outcome: 'closed', from: 'released' });
    const asTransfer = sampleClaim(ledger, { candidates: [sampleTransfer(ledger, { id: transfer })] });
    expect(await ledger.claim(asTransfer)).toMatchObject(REFUNDED);
  });

  it('records each refund once, and only of a closed payment', async () => {
    const { id } = sampleTransfer(ledger);
    const facts: RefundedFacts = {
      refund: 'refund-1',
      transaction: sampleHash(),
      amount: '5',
      recipient: `0x${'cd'.repeat(20)}`,
    };
    await expect(ledger.recordRefunded(id, facts)).rejects.toThrow(TypeError);
    await close(id);
    expect(await ledger.recordRefunded(id, facts)).toBe(true);
    expect(await ledger.recordRefunded(id, facts)).toBe(false);
    expect(await ledger.recordRefunded(id, facts, { again: true })).toBe(false);
    expect(await ledger.recordRefunded(id, { ...facts, refund: 'refund-2' })).toBe(true);
    const closed = await close(id);
    if (closed.outcome !== 'closed_before') throw new Error('it is not closed');
    expect([...closed.paid].sort()).toEqual(['refund-1', 'refund-2']);
    const events = await readEvents(redis, nameOfPayment(id));
    expect(events.map(({ type }) => type)).toEqual(['refunding', 'refunded', 'refunded', 'refunded']);
    expect(events[1]).toMatchObject({ facts });
    await expect(ledger.close({ id, refund: 'a b', reason: null, allowsAnswered: false })).rejects.toThrow(TypeError);
  });

  it('gives either the answer or the refund in each of 1,000 races, never both and never neither', async () => {
    const another = redis.duplicate();
    const refunds = new Ledger({
      redis: another,
      chainIds: [1328],
      timeoutMs: 30_000,
      book: { outboxLimit: 1_000_000 },
    });
    await refunds.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    const counts = { answered: 0, refunded: 0 };
    try {
      for (let race = 0; race < 1000; race++) {
        const released = race % 2 === 0;
        const request = sampleClaim(ledger, { leaseMs: race % 5 === 0 ? 1 : 30_000 });
        const { id } = request.candidates[0]!;
        if (released) {
          const earlier = leaseOf(await ledger.claim({ ...request, leaseMs: 30_000, owner: createOwner() }));
          await ledger.release(earlier, { counted: true }, SAMPLE_RELEASED);
        }
        // A third of the races each is begun by the redemption, by the refund, and by both at once.
        const [first, done] = [race % 3, new EventEmitter()];
        const redeem = async (): Promise<boolean> => {
          if (first === 1) await once(done, 'close');
          if (first === 2) await sleep(Math.random() * 2);
          const claimed = await ledger.claim(request);
          done.emit('claim');
          if (claimed.outcome !== 'claimed') return false;
          await sleep(Math.random() * 2);
          return ledger.commit(claimed.lease, null, { facts: SAMPLE_ANSWERED });
        };
        const refund = async (): Promise<boolean> => {
          if (first === 0) await once(done, 'claim');
          if (first === 2) await sleep(Math.random() * 3);
          for (;;) {
            const { outcome } = await refunds.close({ id, refund: 'race', reason: null, allowsAnswered: false });
            done.emit('close');
            if (outcome !== 'leased') return outcome === 'closed';
          }
        };
        const [isAnswered, isRefunded] = await Promise.all([redeem(), refund()]);
        expect({ race, isAnswered, isRefunded }).toEqual({ race, isAnswered, isRefunded: !isAnswered });
        if (isAnswered) counts.answered++;
        else counts.refunded++;
      }
    } finally {
      another.disconnect();
    }
    // Both sides win often enough for the races to mean something.
    expect(Math.min(counts.answered, counts.refunded)).toBeGreaterThan(50);
    const events = (await readEvents(redis)).flatMap((event) =>
      (event.type === 'refunding' && event.facts.refund === 'race') || event.type === 'answered' ? [event.payment] : [],
    );
    expect(new Set(events).size).toBe(events.length);
  }, 120_000);
});
