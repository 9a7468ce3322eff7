import { setTimeout as sleep } from 'node:timers/promises';

import { CHAIN_ID, HEAD_AT_BIRTH, leaseOf, sampleClaim, sampleHash, sampleTransfer } from '../test/sample-payments.js';
import { useLedger } from '../test/use-ledger.js';
import { CLOCK_SKEW_MS } from './continuity.js';
import { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
import { bucketOf, entryKey } from './keys.js';
import { locatePayment, type PaymentId } from './payment-id.js';
import type { ClaimRequest, PaymentCandidate } from './types.js';

const otherFingerprint = createFingerprint({ method: 'POST', path: '/api/weather', query: '' });
const KEY = hashRetryKey('key');
const OTHER_KEY = hashRetryKey('other key');

describe('claiming a payment', () => {
  const { redis, ledger } = useLedger();

  const claimOf = (overrides: Partial<ClaimRequest> = {}) => sampleClaim(ledger, overrides);
  const again = (request: ClaimRequest, overrides: Partial<ClaimRequest> = {}): ClaimRequest => ({
    ...request,
    owner: createOwner(),
    ...overrides,
  });
  /** An expired lease, as after a crash of its holder. */
  const abandoned = async (overrides: Partial<ClaimRequest> = {}): Promise<ClaimRequest> => {
    const request = claimOf({ ...overrides, leaseMs: 1 });
    leaseOf(await ledger.claim(request));
    await sleep(5);
    return { ...request, leaseMs: 30_000 };
  };
  const spent = async (overrides: Partial<ClaimRequest> = {}): Promise<ClaimRequest> => {
    const request = claimOf(overrides);
    expect(await ledger.commit(leaseOf(await ledger.claim(request)), null)).toBe(true);
    return request;
  };
  const released = async (overrides: Partial<ClaimRequest> = {}): Promise<ClaimRequest> => {
    const request = claimOf(overrides);
    expect(await ledger.release(leaseOf(await ledger.claim(request)), { counted: true })).toBe(true);
    return request;
  };

  /** Changes the payment's record in Redis, and returns the key of its entry. */
  const changeLine = async (id: PaymentId, change: (line: string) => string): Promise<string> => {
    const { entry, slot } = locatePayment(id);
    const key = entryKey(bucketOf(entry), entry);
    await redis.hset(key, slot, change((await redis.hget(key, slot))!));
    return key;
  };

  it('gives a free payment to the first request, until the lease ends', async () => {
    const request = claimOf();
    const lease = leaseOf(await ledger.claim(request));
    expect(lease).toMatchObject({ id: request.candidates[0]!.id, owner: request.owner, generation: 1 });
    expect(lease.untilMs - ledger.nowMs()).toBeGreaterThan(0);
  });

  it('claims one of 1,000 concurrent requests for one hash', async () => {
    const candidates = [sampleTransfer(ledger)];
    const results = await Promise.all(Array.from({ length: 1000 }, () => ledger.claim(claimOf({ candidates }))));
    const count = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
    expect({ claimed: count('claimed'), busy: count('busy') }).toEqual({ claimed: 1, busy: 999 });
  });

  it('returns the same lease to the same owner', async () => {
    const request = claimOf({ retryKey: KEY });
    const first = await ledger.claim(request);
    expect(first.outcome).toBe('claimed');
    expect(await ledger.claim(request)).toEqual(first);
  });

  it('changes nothing past the deadline', async () => {
    const request = claimOf({ deadlineMs: ledger.nowMs() - 1000 });
    expect(await ledger.claim(request)).toEqual({ outcome: 'late' });
    leaseOf(await ledger.claim(again(request, { deadlineMs: ledger.nowMs() + 10_000 })));
  });

  it('treats the hash in upper and lower case as the same payment', async () => {
    const txHash = sampleHash();
    const spelled = (hash: `0x${string}`): PaymentCandidate[] => [
      sampleTransfer(ledger, { id: { kind: 'transfer', chainId: CHAIN_ID, txHash: hash, logIndex: 4 } }),
    ];
    leaseOf(await ledger.claim(claimOf({ candidates: spelled(`0x${txHash.slice(2).toUpperCase()}`) })));
    expect((await ledger.claim(claimOf({ candidates: spelled(txHash) }))).outcome).toBe('busy');
  });

  describe('retry key and fingerprint', () => {
    const differ = { retryKey: OTHER_KEY, fingerprint: otherFingerprint };

    it.each([
      ['same key, same request', {}, 'answered'],
      ['same key, other request', { fingerprint: otherFingerprint }, 'conflict'],
      ['other key, same request', { retryKey: OTHER_KEY }, 'used'],
      ['no key, same request', { retryKey: null }, 'used'],
      ['other key, other request', differ, 'conflict'],
    ])('of a spent payment: %s', async (_, overrides, outcome) => {
      const request = await spent({ retryKey: KEY });
      expect((await ledger.claim(again(request, overrides))).outcome).toBe(outcome);
    });

    it.each([
      ['same key, same request', {}, 'busy'],
      ['same key, other request', { fingerprint: otherFingerprint }, 'conflict'],
      ['other key, same request', { retryKey: OTHER_KEY }, 'busy'],
      ['no key, other request', { ...differ, retryKey: null }, 'busy'],
    ])('of a payment being served: %s', async (_, overrides, outcome) => {
      const request = claimOf({ retryKey: KEY });
      leaseOf(await ledger.claim(request));
      expect((await ledger.claim(again(request, overrides))).outcome).toBe(outcome);
    });

    it.each([
      ['same key, same request', {}, 'claimed'],
      ['same key, other request', { fingerprint: otherFingerprint }, 'conflict'],
      ['other key, same request', { retryKey: OTHER_KEY }, 'used'],
      ['no key, same request', { retryKey: null }, 'used'],
    ])('of an expired lease: %s', async (_, overrides, outcome) => {
      const request = await abandoned({ retryKey: KEY });
      expect((await ledger.claim(again(request, overrides))).outcome).toBe(outcome);
    });

    it.each([
      ['same key, same request', {}, 'claimed'],
      ['same key, other request', { fingerprint: otherFingerprint }, 'claimed'],
      ['other key, same request', { retryKey: OTHER_KEY }, 'used'],
      ['no key, other request', { ...differ, retryKey: null }, 'used'],
    ])('of a released payment: %s', async (_, overrides, outcome) => {
      const request = await released({ retryKey: KEY });
      expect((await ledger.claim(again(request, overrides))).outcome).toBe(outcome);
    });

    const unanswered = async (overrides: Partial<ClaimRequest>): Promise<ClaimRequest> => {
      const request = claimOf(overrides);
      const { id } = leaseOf(await ledger.claim(request));
      await ledger.releaseOwner(id, request.owner);
      return request;
    };

    // Prevents: money is lost with the request that held it, since its payer presents it with another reference.
    it.each([
      ['spent, same key', spent, {}, 'answered'],
      ['spent, other key', spent, { retryKey: OTHER_KEY }, 'used'],
      ['released, other key', released, { retryKey: OTHER_KEY }, 'claimed'],
      ['released, no key, other request', released, { ...differ, retryKey: null }, 'claimed'],
      ['released by its owner, other key', unanswered, { retryKey: OTHER_KEY }, 'claimed'],
      ['expired, same key', abandoned, {}, 'claimed'],
      ['expired, other key', abandoned, { retryKey: OTHER_KEY }, 'claimed'],
      ['expired, other key, other request', abandoned, differ, 'conflict'],
    ])('of a payment whose key reserves nothing: %s', async (_, prepare, overrides, outcome) => {
      const request = await prepare({ retryKey: KEY, keyReserves: false });
      expect((await ledger.claim(again(request, overrides))).outcome).toBe(outcome);
    });

    it('reserves a payment for the last key that it was claimed with', async () => {
      const request = await released({ retryKey: KEY, keyReserves: false });
      const lease = leaseOf(await ledger.claim(again(request, { retryKey: OTHER_KEY, keyReserves: true })));
      await ledger.release(lease, { counted: true });
      expect((await ledger.claim(again(request))).outcome).toBe('used');
      leaseOf(await ledger.claim(again(request, { retryKey: OTHER_KEY })));
    });

    it.each([
      ['spent, same request', spent, {}, 'used'],
      ['spent, other request', spent, { fingerprint: otherFingerprint }, 'conflict'],
      ['released, same request', released, {}, 'claimed'],
      ['released, other request', released, { fingerprint: otherFingerprint }, 'claimed'],
      ['released, now with a key', released, { retryKey: KEY }, 'claimed'],
      ['expired, same request', abandoned, {}, 'claimed'],
      ['expired, other request', abandoned, { fingerprint: otherFingerprint }, 'conflict'],
    ])('of a payment without a key: %s', async (_, prepare, overrides, outcome) => {
      const request = await prepare();
      expect((await ledger.claim(again(request, overrides))).outcome).toBe(outcome);
    });
  });

  it('gives a payment to a new holder with the next generation, and refuses the stale one', async () => {
    const request = claimOf({ retryKey: KEY, leaseMs: 1 });
    const stale = leaseOf(await ledger.claim(request));
    await sleep(5);
    const lease = leaseOf(await ledger.claim(again(request, { leaseMs: 30_000 })));
    expect(lease.generation).toBe(stale.generation + 1);
    expect(await ledger.commit(stale, null)).toBe(false);
    expect(await ledger.renew(stale, 1000)).toBe(false);
    expect(await ledger.release(stale, { counted: false })).toBe(false);
    expect(await ledger.commit(lease, null)).toBe(true);
  });

  it('lets a late holder commit if no other request took over', async () => {
    const lease = leaseOf(await ledger.claim(claimOf({ leaseMs: 1 })));
    await sleep(5);
    expect(await ledger.commit(lease, null)).toBe(true);
  });

  it('treats a repeated commit and a repeated release as one', async () => {
    const committed = leaseOf(await ledger.claim(claimOf()));
    expect([await ledger.commit(committed, null), await ledger.commit(committed, null)]).toEqual([true, true]);
    const request = claimOf();
    const lease = leaseOf(await ledger.claim(request));
    for (let times = 0; times < 9; times++) expect(await ledger.release(lease, { counted: true })).toBe(true);
    leaseOf(await ledger.claim(again(request)));
  });

  it.each([
    ['with a retry key', KEY],
    ['without', null],
  ])('releases a payment five times at most, %s', async (_, retryKey) => {
    const request = claimOf({ retryKey });
    for (let times = 0; times < 5; times++) {
      expect(await ledger.release(leaseOf(await ledger.claim(again(request))), { counted: true })).toBe(true);
    }
    const { id } = request.candidates[0]!;
    const refused = { outcome: 'refused', failure: 'released_too_often', id };
    expect(await ledger.claim(again(request))).toEqual(refused);
  });

  it.each([
    ['with a retry key', KEY],
    ['without', null],
  ])('pauses a payment fifty times at most, %s', async (_, retryKey) => {
    const request = claimOf({ retryKey });
    const { id } = request.candidates[0]!;
    for (let times = 0; times < 50; times++) {
      const lease = leaseOf(await ledger.claim(again(request)));
      // The same release sent twice is one.
      const terms = { counted: false, pauseMs: times < 49 ? 1 : 60_000 };
      expect([await ledger.release(lease, terms), await ledger.release(lease, terms)]).toEqual([true, true]);
      if (times < 49) await sleep(3);
    }
    const refused = { outcome: 'refused', failure: 'released_too_often', id };
    expect(await ledger.claim(again(request))).toEqual(refused);
  });

  it('gives a paused payment to nobody before its time', async () => {
    const pauseMs = 60_000;
    const request = claimOf({ retryKey: KEY });
    await ledger.release(leaseOf(await ledger.claim(request)), { counted: false, pauseMs });
    const paused = await ledger.claim(again(request));
    expect(paused).toEqual({ outcome: 'paused', retryAfterMs: expect.any(Number) as number });
    const { retryAfterMs } = paused as { retryAfterMs: number };
    expect(retryAfterMs > 0 && retryAfterMs <= pauseMs).toBe(true);
    const { txHash } = request.candidates[0]!.id as { txHash: `0x${string}` };
    const found = { chainId: CHAIN_ID, txHash, fingerprint: request.fingerprint, retryKey: KEY };
    expect(await ledger.find(found)).toMatchObject({ outcome: 'paused' });
    expect(await ledger.find({ ...found, fingerprint: 'other' })).toEqual({ outcome: 'none' });
  });

  it('gives no other payment of a transaction to the request whose payment is paused', async () => {
    const first = sampleTransfer(ledger);
    const second = { ...first, id: { ...first.id, logIndex: 1 } as typeof first.id };
    const request = claimOf({ candidates: [first, second] });
    await ledger.release(leaseOf(await ledger.claim(request)), { counted: false, pauseMs: 60_000 });
    expect(await ledger.claim(again(request))).toMatchObject({ outcome: 'paused' });
    const other = { ...again(request), fingerprint: 'other' };
    expect(leaseOf(await ledger.claim(other)).id).toEqual(second.id);
    expect(await ledger.claim({ ...again(request), fingerprint: 'third' })).toMatchObject({ outcome: 'busy' });
  });

  // Prevents: a client comes back a minute late, and its payment is taken for a new one, which is too old.
  it('remembers a payment for a quarter of an hour longer than it is paused', async () => {
    const request = claimOf({ candidates: [sampleTransfer(ledger, { windowMs: 1_000 })] });
    const pauseMs = 30 * 24 * 3_600_000;
    const lease = leaseOf(await ledger.claim(request));
    await ledger.release(lease, { counted: false, pauseMs });
    const { entry } = locatePayment(lease.id);
    expect(await redis.pttl(entryKey(bucketOf(entry), entry))).toBeGreaterThan(pauseMs + 14 * 60_000);
  });

  it('does not count an uncounted release', async () => {
    const request = claimOf();
    for (let times = 0; times < 7; times++) {
      await ledger.release(leaseOf(await ledger.claim(again(request))), { counted: false });
    }
    leaseOf(await ledger.claim(again(request)));
  });

  it('releases what an owner holds when its request no longer waits', async () => {
    const request = claimOf({ retryKey: KEY });
    const { id } = leaseOf(await ledger.claim(request));
    await ledger.releaseOwner(id, createOwner());
    expect((await ledger.claim(again(request))).outcome).toBe('busy');
    await ledger.releaseOwner(id, request.owner);
    leaseOf(await ledger.claim(again(request)));
  });

  it('extends a lease', async () => {
    const lease = leaseOf(await ledger.claim(claimOf({ leaseMs: 1 })));
    expect(await ledger.renew(lease, 30_000)).toBe(true);
    await sleep(5);
    expect((await ledger.claim(claimOf({ candidates: [sampleTransfer(ledger, { id: lease.id })] }))).outcome).toBe(
      'busy',
    );
  });

  describe('a transaction with several payments', () => {
    const batch = (count: number): PaymentCandidate[] => {
      const txHash = sampleHash();
      return Array.from({ length: count }, (_, logIndex) =>
        sampleTransfer(ledger, { id: { kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex } }),
      );
    };

    it('buys as many answers as it holds payments', async () => {
      const candidates = batch(3);
      const results = await Promise.all(Array.from({ length: 20 }, () => ledger.claim(claimOf({ candidates }))));
      const leases = results.filter((result) => result.outcome === 'claimed').map(leaseOf);
      expect(leases.map(({ id }) => (id.kind === 'transfer' ? id.logIndex : -1)).sort()).toEqual([0, 1, 2]);
      for (const lease of leases) expect(await ledger.commit(lease, null)).toBe(true);
      expect((await ledger.claim(claimOf({ candidates }))).outcome).toBe('used');
    });

    it('finds the payment of a retry key before it takes another', async () => {
      const candidates = batch(3);
      const first = claimOf({ candidates });
      leaseOf(await ledger.claim(first));
      const keyed = claimOf({ candidates, retryKey: KEY });
      const lease = leaseOf(await ledger.claim(keyed));
      expect((await ledger.claim(again(keyed))).outcome).toBe('busy');
      await ledger.commit(lease, null);
      expect(await ledger.claim(again(keyed))).toEqual({ outcome: 'answered', id: lease.id });
      // Even if that payment no longer fits the terms.
      expect(await ledger.claim(again(keyed, { candidates: candidates.slice(2) }))).toEqual({
        outcome: 'answered',
        id: lease.id,
      });
    });

    it('takes a released payment before a free one only for its own retry key', async () => {
      const candidates = batch(2);
      const keyed = claimOf({ candidates, retryKey: KEY });
      const lease = leaseOf(await ledger.claim(keyed));
      await ledger.release(lease, { counted: true });
      const other = leaseOf(await ledger.claim(again(keyed, { retryKey: OTHER_KEY })));
      expect(other.id).toEqual(candidates[1]!.id);
      expect(leaseOf(await ledger.claim(again(keyed))).id).toEqual(lease.id);
    });

    it('counts as spent when the whole transaction was redeemed, and vice versa', async () => {
      const [transfer] = batch(1);
      if (transfer?.id.kind !== 'transfer') throw new Error('expected a transfer');
      const { chainId, txHash } = transfer.id;
      const whole = sampleTransfer(ledger, { id: { kind: 'transaction', chainId, txHash }, windowMs: null });
      const request = await spent({ candidates: [whole], retryKey: KEY });
      expect((await ledger.claim(again(request, { candidates: [transfer], retryKey: null }))).outcome).toBe('used');
      expect(await ledger.claim(again(request, { candidates: [transfer] }))).toEqual({
        outcome: 'answered',
        id: whole.id,
      });

      const single = await spent();
      const { id } = single.candidates[0]!;
      if (id.kind !== 'transfer') throw new Error('expected a transfer');
      const wholeOfSingle = { ...whole, id: { kind: 'transaction', chainId, txHash: id.txHash } } as const;
      expect((await ledger.claim(again(single, { candidates: [wholeOfSingle] }))).outcome).toBe('used');
    });
  });

  describe('authorizations', () => {
    const authorization = (): PaymentCandidate =>
      sampleTransfer(ledger, {
        id: {
          kind: 'authorization',
          chainId: CHAIN_ID,
          asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
          from: `0x${'ab'.repeat(20)}`,
          nonce: sampleHash(),
        },
      });

    it('are one payment whatever their spelling', async () => {
      const candidate = authorization();
      leaseOf(await ledger.claim(claimOf({ candidates: [candidate] })));
      const id = { ...candidate.id, asset: '0x4fcf1784b31630811181f670aea7a7bef803eaed' } as PaymentCandidate['id'];
      expect((await ledger.claim(claimOf({ candidates: [{ ...candidate, id }] }))).outcome).toBe('busy');
    });

    it('are found and released by their id', async () => {
      const request = claimOf({ candidates: [authorization()], retryKey: KEY });
      const { id } = request.candidates[0]!;
      const question = { ...id, fingerprint: request.fingerprint, retryKey: KEY };
      expect(await ledger.find(question)).toEqual({ outcome: 'none' });
      leaseOf(await ledger.claim(request));
      expect(await ledger.find(question)).toMatchObject({ outcome: 'busy' });
      await ledger.releaseOwner(id, createOwner());
      expect((await ledger.claim(again(request))).outcome).toBe('busy');
      await ledger.releaseOwner(id, request.owner);
      await ledger.commit(leaseOf(await ledger.claim(again(request))), null);
      expect(await ledger.find(question)).toMatchObject({ outcome: 'answered', id: { kind: 'authorization' } });
      expect(await ledger.find({ ...question, fingerprint: 'another' })).toEqual({ outcome: 'conflict' });
      expect(await ledger.find({ ...question, retryKey: 'another' })).toEqual({ outcome: 'none' });
    });

    it('buy one answer each when one transaction carries several, and a retry finds its own', async () => {
      const candidates = [authorization(), authorization(), sampleTransfer(ledger)];
      const results = await Promise.all(
        [1, 2, 3, 4, 5].map((key) => ledger.claim(claimOf({ candidates, retryKey: hashRetryKey(String(key)) }))),
      );
      expect(results.map((result) => result.outcome).sort()).toEqual(['busy', 'busy', 'claimed', 'claimed', 'claimed']);
      const request = claimOf({ candidates: [authorization(), authorization()], retryKey: KEY });
      const first = leaseOf(await ledger.claim(claimOf({ candidates: request.candidates })));
      const second = leaseOf(await ledger.claim(request));
      await ledger.release(first, { counted: false });
      await ledger.commit(second, null);
      expect(await ledger.claim(again(request))).toEqual({ outcome: 'answered', id: second.id });
    });

    // Prevents: they are claimed one after the other, so a second copy that is past the first would find the second
    // still free.
    it('are not both spent by one retry key that arrives twice at once', async () => {
      for (let round = 0; round < 20; round++) {
        const request = claimOf({ candidates: [authorization(), authorization(), authorization()], retryKey: KEY });
        const results = await Promise.all([request, again(request), again(request)].map((one) => ledger.claim(one)));
        expect(results.map(({ outcome }) => outcome).sort()).toEqual(['busy', 'busy', 'claimed']);
      }
    });
  });

  describe('age', () => {
    const aged = (overrides: Partial<PaymentCandidate>) => claimOf({ candidates: [sampleTransfer(ledger, overrides)] });

    it('refuses a payment past its window', async () => {
      const result = await ledger.claim(aged({ minedAtMs: ledger.nowMs() - 901_000 }));
      expect(result).toMatchObject({ outcome: 'refused', failure: 'payment_too_old' });
    });

    it.each([
      ['mined before the birth', { minedAtMs: Date.now() - 60_000 }],
      ['in a block from before the birth', { blockNumber: HEAD_AT_BIRTH }],
    ])('refuses a payment %s', async (_, overrides) => {
      const result = await ledger.claim(aged(overrides));
      expect(result).toMatchObject({ outcome: 'refused', failure: 'older_than_ledger' });
    });

    it('has no age limit without a window', async () => {
      leaseOf(await ledger.claim(aged({ minedAtMs: 0, blockNumber: 1, windowMs: null })));
    });

    // Prevents: a signed payment that was mined long after its claim buys another answer by its hash, shortly before its
    // window ends.
    it.each([
      ['for its whole window', 900_000],
      ['for ever without a window', null],
    ])('remembers a payment that was spent long after its claim %s', async (_, windowMs) => {
      const lease = leaseOf(await ledger.claim(aged({ windowMs })));
      const key = await changeLine(lease.id, (line) => {
        const [state, epoch, generation, releases, reproductions, atMs, ...rest] = line.split(',');
        return [state, epoch, generation, releases, reproductions, Number(atMs) - 61_000, ...rest].join();
      });
      if (windowMs !== null) await redis.pexpireat(key, (await redis.pexpiretime(key)) - 61_000);
      const spentAtMs = ledger.nowMs();
      expect(await ledger.commit(lease, null)).toBe(true);
      const expiresAtMs = await redis.pexpiretime(key);
      if (windowMs === null) expect(expiresAtMs).toBe(-1);
      else expect(expiresAtMs - spentAtMs).toBeGreaterThan(windowMs + CLOCK_SKEW_MS);
    });

    it('gives a spent payment its answer after its window', async () => {
      const request = await spent({ retryKey: KEY });
      const candidates = [{ ...request.candidates[0]!, windowMs: 0, minedAtMs: 0 }];
      expect((await ledger.claim(again(request, { candidates }))).outcome).toBe('answered');
    });
  });

  it.each([
    ['owner', { owner: 'a,b' }],
    ['fingerprint', { fingerprint: '' }],
    ['retryKey', { retryKey: 'new\nline' }],
    ['candidates', { candidates: [] }],
  ])('throws a TypeError for a bad %s instead of judging the payment', async (_, overrides) => {
    await expect(ledger.claim(claimOf(overrides))).rejects.toThrow(TypeError);
  });
});
