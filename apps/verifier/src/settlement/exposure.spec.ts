import type { SignedPayment } from '@tollgate/protocol';
import { InFlightExposure, type Debit } from '@tollgate/settlement';

import { approvePermit2, signPermit } from '../../../../test/harness/chain/sign-permit.js';
import { waitFor } from '../../../../test/harness/retry.js';
import type { DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

const COUNT = 20;
const PRICE = 1000n;

describe('payments of one payer', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
  });

  afterAll(() => fixture.stop());

  const settleWithin = (patienceMs: number, payment: SignedPayment) =>
    fixture.settle(payment, { deadlineMs: Date.now() + patienceMs });
  const settle = (payment: SignedPayment) => fixture.settle(payment);

  /** Leaves the payer the balance for `count` payments. */
  async function leave(payer: DevnetAccount, count: number): Promise<void> {
    const amountBaseUnits = (await fixture.readBalance(payer.address)) - PRICE * BigInt(count);
    await transferTokens(fixture.chain, { from: payer.address, to: fixture.payer(8).address, amountBaseUnits });
  }

  type Sign = (payer: DevnetAccount) => Promise<SignedPayment>;
  const signPermitFor: Sign = (payer) => signPermit(fixture.chain, payer, { amountBaseUnits: PRICE });

  // Prevents: payments signed over one balance are simulated on a chain that does not have the others yet, and each is
  // sent.
  it.each<[string, number, Sign]>([
    ['authorizations', 1, (payer) => fixture.sign({}, payer)],
    ['permits', 2, signPermitFor],
  ])('burn no gas beyond the balance while others wait for their block: %s', async (_, index, sign) => {
    const [payer, other] = [fixture.payer(index), fixture.payer(3)];
    await approvePermit2(fixture.chain, { owner: payer.address });
    await leave(payer, 2);
    const payments = await Promise.all(Array.from({ length: COUNT }, () => sign(payer)));
    const before = await fixture.readSent();
    await fixture.rpc('evm_setAutomine', [false]);
    const first = settle(payments[0]!);
    await fixture.waitForPool(1);
    const results = payments.slice(1).map(settle);
    await fixture.waitForPool(2);
    const another = settle(await fixture.sign({}, other));
    await fixture.waitForPool(3);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    expect(await another).toMatchObject({ outcome: 'settled' });
    const outcomes = await Promise.all([first, ...results]);
    expect(outcomes.filter(({ outcome }) => outcome === 'settled')).toHaveLength(2);
    expect(outcomes.filter(({ outcome }) => outcome === 'failed')).toHaveLength(COUNT - 2);
    expect(await fixture.readSent()).toBe(before + 3);
    expect(await fixture.readBalance(payer.address)).toBe(0n);
  });

  // Prevents: a payer refused for a low balance signs anew, and its earlier payment is sent when it has more.
  it.each<[string, number, Sign]>([
    ['authorizations', 4, (payer) => fixture.sign({}, payer)],
    ['permits', 5, signPermitFor],
  ])('are not started once the asker has left: %s', async (_, index, sign) => {
    const payer = fixture.payer(index);
    await approvePermit2(fixture.chain, { owner: payer.address });
    await leave(payer, 1);
    const [first, left, later] = [await sign(payer), await sign(payer), await sign(payer)];
    const before = await fixture.readSent();
    await fixture.rpc('evm_setAutomine', [false]);
    const settling = settle(first);
    await fixture.waitForPool(1);
    expect(await settleWithin(500, left)).toMatchObject({ outcome: 'pending', txHash: null });
    const filling = transferTokens(fixture.chain, {
      from: fixture.payer(8).address,
      to: payer.address,
      amountBaseUnits: 2n * PRICE,
    });
    await fixture.waitForPool(2);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    await filling;
    expect(await settling).toMatchObject({ outcome: 'settled' });
    // Its turn comes after the one whose asker left.
    expect(await settle(later)).toMatchObject({ outcome: 'settled' });
    expect(await fixture.readSent()).toBe(before + 2);
    expect(await settle(left)).toMatchObject({ outcome: 'settled' });
  });

  it('are settled together if the balance covers them all', async () => {
    const payments = await Promise.all(Array.from({ length: COUNT }, () => fixture.sign()));
    await fixture.rpc('evm_setAutomine', [false]);
    const first = settle(payments[0]!);
    await fixture.waitForPool(1);
    const results = payments.slice(1).map(settle);
    await fixture.waitForPool(2);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    for (const result of await Promise.all([first, ...results])) expect(result.outcome).toBe('settled');
  });

  // Prevents: a payer that signs often over one balance takes all places of the relayer, and no other payer is served.
  it('take few places from others while they wait for each other', async () => {
    const [payer, other] = [fixture.payer(6), fixture.payer(3)];
    await fixture.closeVerifiers();
    await fixture.startVerifier({ MAX_IN_FLIGHT: '16' });
    await leave(payer, 1);
    const payments = await Promise.all(Array.from({ length: COUNT }, () => fixture.sign({}, payer)));
    await fixture.rpc('evm_setAutomine', [false]);
    const first = settle(payments[0]!);
    await fixture.waitForPool(1);
    const outcomes: string[] = [];
    const others = payments.slice(1).map(async (payment) => outcomes.push((await settle(payment)).outcome));
    await waitFor('there is room', () => outcomes.length === COUNT - 3);
    const another = settle(await fixture.sign({}, other));
    await fixture.waitForPool(2);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    expect(await Promise.all([first, another])).toMatchObject([{ outcome: 'settled' }, { outcome: 'settled' }]);
    await Promise.all(others);
    expect(outcomes).toEqual([...Array<string>(COUNT - 3).fill('unavailable'), 'failed', 'failed']);
  });
});

/** Does the work when the payment's turn comes. */
async function during<T>(exposure: InFlightExposure, debit: Debit, work: () => Promise<T>): Promise<T | null> {
  const turn = await exposure.begin(debit);
  return turn && work().finally(() => turn.end());
}

describe("a payer's balance", () => {
  const claimed = { asset: '0xaa', payer: '0xbb' } as const;

  it('is given out in order of arrival, and nothing is kept of a payer with nothing in flight', async () => {
    let balance = 10n;
    const exposure = new InFlightExposure({
      readBalance: () => Promise.resolve(balance),
      nowMs: Date.now,
      mostHeld: 4,
    });
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const works = [6n, 3n, 5n, 1n].map((amountBaseUnits, index) =>
      during(exposure, { ...claimed, amountBaseUnits }, () => {
        begun.push(index);
        return new Promise<void>((end) => (ends[index] = end));
      }),
    );
    await waitFor('the first two', () => begun.length === 2);
    balance = 4n;
    ends[0]!();
    await works[0];
    balance = 1n;
    ends[1]!();
    // Nothing is in flight, so the simulation decides whether the newest block has enough.
    await waitFor('the third', () => begun.length === 3);
    ends[2]!();
    await waitFor('the last', () => begun.length === 4);
    ends[3]!();
    await Promise.all(works);
    expect([begun, exposure.size]).toEqual([[0, 1, 2, 3], 0]);
  });

  it('holds up no payment when it cannot be read, or when the work fails', async () => {
    const exposure = new InFlightExposure({
      readBalance: () => Promise.reject(new Error('away')),
      nowMs: Date.now,
      mostHeld: 4,
    });
    const spend = (work: () => Promise<string>) => during(exposure, { ...claimed, amountBaseUnits: 1n }, work);
    const works = [spend(() => Promise.reject(new Error('no'))), spend(() => Promise.resolve('done'))];
    expect(await Promise.allSettled(works)).toMatchObject([{ status: 'rejected' }, { value: 'done' }]);
    expect(exposure.size).toBe(0);
  });
});
