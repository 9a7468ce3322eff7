import { startChargingShop, type ChargingShop } from '../../../../packages/client/test/charging-shop.js';
import { PaymentFixture, readAnswer } from '../../test/payment-fixture.js';

describe('a job that pays a charge of MPP', () => {
  let fixture: PaymentFixture;
  let shop: ChargingShop;

  beforeAll(async () => {
    fixture = await PaymentFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(async () => {
    await fixture.begin();
    shop = await startChargingShop(fixture.lane.chain);
  });

  afterEach(async () => {
    await fixture.end();
    await shop.close();
  });

  it('by a signature where the server takes one', async () => {
    fixture.startWorker();
    const job = await fixture.lane.waitForState(await fixture.submit({ url: shop.url }), 'FINAL');
    expect(readAnswer(job)).toMatchObject({ httpStatus: 200, body: 'the goods' });
    expect(shop.shown).toMatchObject([{ payload: { type: 'authorization' } }]);
    expect([await fixture.lane.readMined(), (await fixture.transfers()).length]).toEqual([[], 1]);
  });

  it('by a transfer where it takes no other', async () => {
    shop.details = { credentialTypes: ['hash'] };
    fixture.startWorker();
    const job = await fixture.lane.waitForState(await fixture.submit({ url: shop.url }), 'FINAL');
    expect(readAnswer(job)).toMatchObject({ httpStatus: 200, body: 'the goods' });
    expect(shop.shown).toMatchObject([{ payload: { type: 'hash', hash: job.steps[0]!.mined!.hash } }]);
    expect(await fixture.transfers()).toEqual([job.steps[0]!.mined!.hash]);
  });
});
