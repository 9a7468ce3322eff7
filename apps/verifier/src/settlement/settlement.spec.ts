import { SettlementFixture } from '../../test/settlement-fixture.js';

describe('settling signed payments', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
  });

  afterAll(() => fixture.stop());

  it('moves what was signed, once, however often it is asked', async () => {
    const before = await fixture.readBalance();
    const payment = await fixture.sign();
    const results = await Promise.all(Array.from({ length: 20 }, () => fixture.settle(payment)));
    const [first] = results;
    expect(first).toMatchObject({ outcome: 'settled', payer: payment.authorization.from, amountBaseUnits: '1000' });
    expect(results.every((result) => JSON.stringify(result) === JSON.stringify(first))).toBe(true);
    expect(await fixture.settle(payment)).toEqual(first);
    expect(await fixture.readBalance()).toBe(before + 1000n);
  });
});
