import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';
import type { Redis } from 'ioredis';

import { CHAIN_ID, sampleClaim, sampleHash, sampleTransfer } from '../test/sample-payments.js';
import { useLedger } from '../test/use-ledger.js';
import { createOwner } from './create-keys.js';
import type { Ledger } from './ledger.js';
import type { ClaimRequest, Lease } from './types.js';

interface ModelSlot {
  state: 'leased' | 'expired' | 'done' | 'released' | 'refunding';
  generation: number;
  releases: number;
  owner: string;
  fingerprint: string;
  retryKey: string | null;
  isReserved: boolean;
}

/** The claim rules without Redis: one transaction with a few payments, and the leases given out. */
interface Model {
  slots: (ModelSlot | null)[];
  leases: { slot: number; generation: number; owner: string }[];
}

interface Real {
  ledger: Ledger;
  redis: Redis;
  base: ClaimRequest;
  leases: Lease[];
}

type Request = Pick<ClaimRequest, 'fingerprint' | 'retryKey'> & { keyReserves: boolean };

function decide(model: Model, request: Request): { outcome: string; slot?: number } {
  const known = [...model.slots.entries()].find(
    ([, one]) => one && request.retryKey && one.retryKey === request.retryKey,
  );
  if (known?.[1]) {
    const [slot, one] = known;
    if (one.state === 'refunding') return { outcome: 'payment_refunded', slot };
    const same = one.fingerprint === request.fingerprint;
    if (one.state === 'released')
      return one.releases >= 5 ? { outcome: 'released_too_often', slot } : { outcome: 'claimed', slot };
    if (!same) return { outcome: 'conflict' };
    return { outcome: { done: 'answered', leased: 'busy', expired: 'claimed' }[one.state], slot };
  }
  const free = model.slots.findIndex(
    (one) =>
      !one ||
      (!one.isReserved &&
        ((one.state === 'released' && one.releases < 5) ||
          (one.state === 'expired' && one.fingerprint === request.fingerprint))),
  );
  if (free >= 0) return { outcome: 'claimed', slot: free };
  const taken = model.slots.filter((one) => one !== null);
  if (taken.some((one) => one.state === 'leased')) return { outcome: 'busy' };
  const barred = taken.find((one) => one.state === 'refunding' || (one.state === 'released' && !one.isReserved));
  if (barred) return { outcome: barred.state === 'refunding' ? 'payment_refunded' : 'released_too_often' };
  if (taken.some((one) => (one.state === 'released' || one.state === 'expired') && one.isReserved))
    return { outcome: 'used' };
  return { outcome: taken.some((one) => one.fingerprint === request.fingerprint) ? 'used' : 'conflict' };
}

const outcomeOf = (result: Awaited<ReturnType<Ledger['claim']>>) =>
  result.outcome === 'refused' ? result.failure : result.outcome;

class Claim implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly request: Request,
    readonly crashes: boolean,
  ) {}
  check = () => true;

  async run(model: Model, { ledger, base, leases }: Real): Promise<void> {
    const expected = decide(model, this.request);
    const owner = createOwner();
    const asked = { ...base, ...this.request, owner, leaseMs: this.crashes ? 1 : 3_600_000 };
    const result = await ledger.claim(asked);
    expect(outcomeOf(result)).toBe(expected.outcome);
    if (result.outcome === 'answered') expect(result.id).toMatchObject({ logIndex: expected.slot });
    if (result.outcome !== 'claimed' || expected.slot === undefined) return;

    const old = model.slots[expected.slot];
    const generation = (old?.generation ?? 0) + 1;
    expect(result.lease).toMatchObject({ owner, generation, id: { logIndex: expected.slot } });
    if (this.crashes) await sleep(3);
    else expect(await ledger.claim(asked)).toEqual(result);
    const state = this.crashes ? 'expired' : 'leased';
    const { keyReserves, ...request } = this.request;
    const isReserved = keyReserves && request.retryKey !== null;
    model.slots[expected.slot] = { ...request, isReserved, state, generation, releases: old?.releases ?? 0, owner };
    model.leases.push({ slot: expected.slot, generation, owner });
    leases.push(result.lease);
  }

  toString = () => {
    const { fingerprint, retryKey, keyReserves } = this.request;
    return `claim(${fingerprint}, ${retryKey}${keyReserves ? '' : ', open'}${this.crashes ? ', crashes' : ''})`;
  };
}

class End implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly how: 'commit' | 'release' | 'give back' | 'renew' | 'release owner',
    readonly which: number,
  ) {}
  check = (model: Readonly<Model>) => model.leases.length > 0;

  async run(model: Model, { ledger, leases }: Real): Promise<void> {
    const index = this.which % leases.length;
    const [held, lease] = [model.leases[index]!, leases[index]!];
    const slot = model.slots[held.slot];
    const current = slot?.generation === held.generation && slot.owner === held.owner ? slot : null;
    const holds = current?.state === 'leased' || current?.state === 'expired' ? current : null;
    switch (this.how) {
      case 'commit':
        expect(await ledger.commit(lease, null)).toBe(holds !== null || current?.state === 'done');
        if (holds) holds.state = 'done';
        return;
      case 'release':
      case 'give back': {
        const counted = this.how === 'release';
        expect(await ledger.release(lease, { counted })).toBe(holds !== null || current?.state === 'released');
        if (holds) Object.assign(holds, { state: 'released', releases: holds.releases + (counted ? 1 : 0) });
        return;
      }
      case 'renew':
        expect(await ledger.renew(lease, 3_600_000)).toBe(holds !== null);
        if (holds) holds.state = 'leased';
        return;
      case 'release owner':
        await ledger.releaseOwner(lease.id, held.owner);
        if (holds) holds.state = 'released';
    }
  }

  toString = () => `${this.how}(${this.which})`;
}

class Close implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly which: number,
    readonly allowsAnswered: boolean,
  ) {}
  check = () => true;

  async run(model: Model, { ledger, base }: Real): Promise<void> {
    const index = this.which % model.slots.length;
    const slot = model.slots[index];
    const { id } = base.candidates[index]!;
    const result = await ledger.close({ id, refund: 'r', reason: null, allowsAnswered: this.allowsAnswered });
    if (slot?.state === 'refunding') return expect(result).toMatchObject({ outcome: 'closed_before', by: 'r' });
    if (slot?.state === 'leased') return expect(result).toMatchObject({ outcome: 'leased' });
    if (slot?.state === 'done' && !this.allowsAnswered) return expect(result).toEqual({ outcome: 'answered' });
    const from = slot?.state === 'done' ? 'answered' : (slot?.state ?? 'free');
    expect(result).toEqual({ outcome: 'closed', from });
    const before = slot ?? { releases: 0, fingerprint: '-', retryKey: null, isReserved: false, generation: 0 };
    model.slots[index] = { ...before, state: 'refunding', owner: '', generation: before.generation + 1 };
  }

  toString = () => `close(${this.which}${this.allowsAnswered ? ', also answered' : ''})`;
}

/** Redis loses every write; the payments have not been sent, so they may be claimed again. */
class Lose implements fc.AsyncCommand<Model, Real> {
  check = () => true;

  async run(model: Model, { redis }: Real): Promise<void> {
    await redis.flushall();
    model.slots.fill(null);
  }

  toString = () => 'lose';
}

describe('the ledger, compared with a model of its rules', () => {
  const { ledger, redis } = useLedger();

  it('decides every sequence of claims, commits, releases, refunds and losses as the model does', async () => {
    const request = fc.record({
      fingerprint: fc.constantFrom('x', 'y'),
      retryKey: fc.constantFrom(null, 'a', 'b'),
      keyReserves: fc.boolean(),
    });
    const which = fc.nat(1000);
    const how = fc.constantFrom<End['how'][]>('commit', 'release', 'release', 'give back', 'renew', 'release owner');
    const commands = fc.commands(
      [
        fc.tuple(request, fc.boolean()).map((args) => new Claim(...args)),
        fc.tuple(how, which).map((args) => new End(...args)),
        fc.oneof(
          { weight: 3, arbitrary: fc.tuple(which, fc.boolean()).map((args) => new Close(...args)) },
          { weight: 1, arbitrary: fc.constant(new Lose()) },
        ),
      ],
      { maxCommands: 60, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(commands, fc.integer({ min: 1, max: 3 }), async (plan, count) => {
        const txHash = sampleHash();
        const minedAtMs = ledger.nowMs() + 600_000;
        const candidates = Array.from({ length: count }, (_, logIndex) =>
          sampleTransfer(ledger, { id: { kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex }, minedAtMs }),
        );
        const base = sampleClaim(ledger, { candidates, deadlineMs: ledger.nowMs() + 600_000 });
        await fc.asyncModelRun(
          () => ({
            model: { slots: candidates.map(() => null), leases: [] },
            real: { ledger, redis, base, leases: [] },
          }),
          plan,
        );
      }),
      { numRuns: 200 },
    );
  });
});
