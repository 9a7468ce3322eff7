import { randomBytes } from 'node:crypto';

import { CHAIN_ID, leaseOf, sampleClaim, sampleHash, sampleTransfer } from '../test/sample-payments.js';
import { useLedger } from '../test/use-ledger.js';
import { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
import { BUCKETS, answersKey, bucketOf } from './keys.js';
import { Ledger } from './ledger.js';
import { locatePayment, transactionEntry } from './payment-id.js';
import type { ClaimRequest, PaymentCandidate, StoredAnswer } from './types.js';

const answerOf = (body: Buffer): StoredAnswer => ({
  status: 200,
  headers: [
    ['content-type', 'application/octet-stream'],
    ['x-naïve', 'ä\\"'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ],
  body,
});

describe('stored answers', () => {
  const { redis, ledger } = useLedger();

  const spend = async (answer: StoredAnswer | null, overrides: Partial<ClaimRequest> = {}, by = ledger) => {
    const request = sampleClaim(by, overrides);
    const lease = leaseOf(await by.claim(request));
    expect(await by.commit(lease, answer)).toBe(true);
    return { request, id: lease.id };
  };

  it.each([
    ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['nothing', Buffer.alloc(0)],
    ['lines', Buffer.from('\n{"a":1}\r\n\n')],
    ['a megabyte', randomBytes(1024 * 1024)],
  ])('come back byte for byte: %s', async (_, body) => {
    const { id } = await spend(answerOf(body));
    const answer = await ledger.readAnswer(id);
    expect(answer).toEqual(answerOf(body));
  });

  it('are absent if only the marker was kept', async () => {
    const { id } = await spend(null);
    expect(await ledger.readAnswer(id)).toBeNull();
  });

  it('are found by their retry key without the chain', async () => {
    const retryKey = hashRetryKey('find me');
    const { request, id } = await spend(answerOf(Buffer.from('x')), { retryKey });
    if (id.kind !== 'transfer') throw new Error('expected a transfer');
    const question = { chainId: CHAIN_ID, txHash: id.txHash, fingerprint: request.fingerprint, retryKey };
    expect(await ledger.find(question)).toEqual({ outcome: 'answered', id });
    const upper = `0x${id.txHash.slice(2).toUpperCase()}` as const;
    expect(await ledger.find({ ...question, txHash: upper })).toEqual({ outcome: 'answered', id });
    expect(await ledger.find({ ...question, retryKey: hashRetryKey('other') })).toEqual({ outcome: 'none' });
    const fingerprint = createFingerprint({ method: 'GET', path: '/other', query: '' });
    expect(await ledger.find({ ...question, fingerprint })).toEqual({ outcome: 'conflict' });
    expect(await ledger.find({ ...question, txHash: sampleHash() })).toEqual({ outcome: 'none' });
  });

  it('are busy while they are produced, and unknown once released', async () => {
    const retryKey = hashRetryKey('being made');
    const request = sampleClaim(ledger, { retryKey });
    const lease = leaseOf(await ledger.claim(request));
    if (lease.id.kind !== 'transfer') throw new Error('expected a transfer');
    const question = { chainId: CHAIN_ID, txHash: lease.id.txHash, fingerprint: request.fingerprint, retryKey };
    expect(await ledger.find(question)).toMatchObject({ outcome: 'busy' });
    await ledger.release(lease, { counted: true });
    expect(await ledger.find(question)).toEqual({ outcome: 'none' });
  });

  it('leave only the marker when their bucket is full, and make room when they expire', async () => {
    const small = new Ledger({ redis, chainIds: [1328], answerStoreBytes: 1500 * BUCKETS, answerRetentionMs: 1000 });
    await small.open();
    const sameBucket = (): PaymentCandidate[] => {
      for (;;) {
        const txHash = sampleHash();
        if (bucketOf(transactionEntry(CHAIN_ID, txHash)) === 7) {
          return [sampleTransfer(small, { id: { kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex: 0 } })];
        }
      }
    };
    const key = answersKey(7);
    await redis.del(key);
    const body = randomBytes(900);
    const first = await spend(answerOf(body), { candidates: sameBucket() }, small);
    const retryKey = hashRetryKey('over budget');
    const second = await spend(answerOf(body), { candidates: sameBucket(), retryKey }, small);
    expect((await small.readAnswer(first.id))?.body).toEqual(body);
    expect(await small.readAnswer(second.id)).toBeNull();
    expect((await small.claim({ ...second.request, owner: createOwner() })).outcome).toBe('answered');

    // Moves the clock instead of waiting: bytes counted for a later time slice now belong to a past one.
    const [slice] = Object.keys(await redis.hgetall(key)).filter((field) => /^\d+$/.test(field));
    await redis.hset(key, Number(slice) - 2, (await redis.hget(key, slice!))!, 'swept', Number(slice) - 3);
    await redis.hdel(key, slice!);
    const third = await spend(answerOf(body), { candidates: sameBucket() }, small);
    expect((await small.readAnswer(third.id))?.body).toEqual(body);
  });

  it('and their entries expire: the answer with its retention, the entry after its window', async () => {
    const beforeMs = ledger.nowMs();
    for (let payment = 0; payment < 200; payment += 1) {
      const { id } = await spend(answerOf(Buffer.from('x')));
      const { entry, slot } = locatePayment(id);
      const name = `tollgate:{pay-${bucketOf(entry)}}`;
      const entryEnd = await redis.pexpiretime(`${name}:${entry}`);
      const answerEnd = await redis.pexpiretime(`${name}:answer:${entry}:${slot}`);
      expect(entryEnd).toBeGreaterThan(beforeMs + 900_000);
      expect(entryEnd).toBeLessThan(ledger.nowMs() + 900_000 + 62_000);
      expect(answerEnd).toBeGreaterThan(beforeMs);
      expect(answerEnd).toBeLessThanOrEqual(entryEnd);
      expect(await redis.pexpiretime(answersKey(bucketOf(entry)))).toBeGreaterThan(answerEnd);
    }
  });

  it('of whole transactions expire, their entries never', async () => {
    const id = { kind: 'transaction', chainId: CHAIN_ID, txHash: sampleHash() } as const;
    await spend(answerOf(Buffer.from('x')), { candidates: [sampleTransfer(ledger, { id, windowMs: null })] });
    const { entry } = locatePayment(id);
    const name = `tollgate:{pay-${bucketOf(entry)}}`;
    expect(await redis.pttl(`${name}:${entry}`)).toBe(-1);
    expect(await redis.pttl(`${name}:answer:${entry}:receipt`)).toBeGreaterThan(0);
  });

  it('may be produced again a limited number of times', async () => {
    const { id } = await spend(null);
    const count = async (): Promise<string> => (await ledger.countReproduction(id, 5)).outcome;
    const counted = await Promise.all(Array.from({ length: 8 }, count));
    expect(counted.filter((outcome) => outcome === 'counted')).toHaveLength(5);
    await ledger.giveBackReproduction(id);
    expect([await count(), await count()]).toEqual(['counted', 'exhausted']);
    const unknown = { ...id, txHash: sampleHash() } as typeof id;
    expect(await ledger.countReproduction(unknown, 5)).toEqual({ outcome: 'exhausted' });
  });

  it('are not produced again while what they come from is busy', async () => {
    const { id } = await spend(null);
    await ledger.countReproduction(id, 5);
    await ledger.giveBackReproduction(id, 60_000);
    const paused = await ledger.countReproduction(id, 5);
    expect(paused).toEqual({ outcome: 'paused', retryAfterMs: expect.any(Number) as number });
    const { retryAfterMs } = paused as { retryAfterMs: number };
    expect(retryAfterMs > 0 && retryAfterMs <= 60_000).toBe(true);
  });
});
