import { InFlightExposure } from '@tollgate/settlement';
import type { PaymentSimulation } from '@tollgate/transport';

import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

const PRICE = 1000n;
const MINUTE_MS = 60_000;

describe('a payment that was simulated when it was verified', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
    // From now on it is known how much gas a payment takes.
    expect(await fixture.settle(await fixture.sign())).toMatchObject({ outcome: 'settled' });
  });

  afterAll(() => fixture.stop());

  /** On a clock that runs ahead, so that a slow machine does not make it old. */
  const tried = (ageMs: number): { simulation: PaymentSimulation } => ({
    simulation: { atMs: Date.now() + MINUTE_MS - ageMs, balanceBaseUnits: '1000000' },
  });

  it('is settled, alone and with others', async () => {
    const before = await fixture.readBalance();
    const payments = await Promise.all(Array.from({ length: 8 }, (_, index) => fixture.sign({}, fixture.payer(index))));
    const results = await Promise.all(payments.map((payment) => fixture.settle(payment, tried(0))));
    expect(results.map(({ outcome }) => outcome)).toEqual(payments.map(() => 'settled'));
    expect(await fixture.readBalance()).toBe(before + PRICE * BigInt(payments.length));
  });

  // Prevents: what a payer has spent since is reported as settled, or sent in vain for as long as the payer likes.
  it.each<[string, number, number, number]>([
    ['sent once and then simulated, if the simulation is recent', 1, 0, 1],
    ['simulated again before it is sent, if the simulation is old', 2, 2 * MINUTE_MS, 0],
  ])('and that fails now is %s', async (_, index, ageMs, sent) => {
    const payer = fixture.payer(index);
    const amountBaseUnits = await fixture.readBalance(payer.address);
    await transferTokens(fixture.chain, { from: payer.address, to: fixture.payer(8).address, amountBaseUnits });
    const before = await fixture.readSent();
    expect(await fixture.settle(await fixture.sign({}, payer), tried(ageMs))).toMatchObject({ outcome: 'failed' });
    expect(await fixture.readSent()).toBe(before + sent);
  });
});

describe("a payer's balance, known from a simulation", () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const claimed = { asset: '0xaa', payer: '0xbb', amountBaseUnits: 5n } as const;
  const createExposure = () =>
    new InFlightExposure({ readBalance: () => Promise.resolve(100n), nowMs: Date.now, mostHeld: 4 });
  const spend = async (exposure: InFlightExposure, balance: string, atMs = Date.now()) => {
    const turn = await exposure.begin({ ...claimed, earlierSimulation: { atMs, balanceBaseUnits: balance } });
    turn?.end();
    return turn?.isSimulated;
  };

  it('covers a payment beside those in flight', async () => {
    const exposure = createExposure();
    expect(await Promise.all([spend(exposure, '10'), spend(exposure, '10'), spend(exposure, '10')])).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is reduced by recent payments, which the simulation may or may not have seen', async () => {
    const exposure = createExposure();
    expect([await spend(exposure, '5'), await spend(exposure, '9'), await spend(exposure, '15')]).toEqual([
      true,
      false,
      true,
    ]);
    jest.advanceTimersByTime(MINUTE_MS);
    expect(await spend(exposure, '5')).toBe(true);
  });

  it('is not known from an old simulation', async () => {
    const exposure = createExposure();
    const atMs = Date.now();
    jest.advanceTimersByTime(2_001);
    expect(await spend(exposure, '100', atMs)).toBe(false);
  });
});
