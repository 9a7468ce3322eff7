import { laneBookKey, parseBookEvent } from '@tollgate/book-events';
import { nameOfPayment, signedPaymentId } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { waitFor } from '../../../../test/harness/retry.js';
import { settingsOf } from '../../test/settings-of.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

describe('what a relayer reports to the book', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier({ BOOK: 'on' });
  });

  afterAll(() => fixture.stop());

  it('is each transaction with its gas and what it moved of each payment', async () => {
    const payment = await fixture.sign();
    const result = await fixture.settle(payment, { settings: settingsOf(fixture.chain, { BOOK: 'on' }) });
    if (result.outcome !== 'settled') throw new Error(`It is ${result.outcome}.`);
    const { chainId, asset, payTo } = fixture.chain;
    const redis = new Redis(fixture.redis.url);
    try {
      let events: ReturnType<typeof parseBookEvent>[] = [];
      await waitFor('the report', async () => {
        const [lane] = await redis.smembers('tollgate:{relayers}:lanes');
        events = (await redis.xrange(laneBookKey(lane ?? ''), '-', '+')).map(([, fields]) => parseBookEvent(fields));
        return events.length > 0;
      });
      const name = nameOfPayment(signedPaymentId({ chainId, asset }, payment));
      expect(events).toMatchObject([
        {
          type: 'settled',
          facts: {
            transaction: result.txHash,
            outcome: 'success',
            operation: 'settle',
            payments: [
              { payment: name, payTo: payTo.toLowerCase(), payer: payment.authorization.from, amount: '1000' },
            ],
          },
        },
      ]);
    } finally {
      redis.disconnect();
    }
  });
});
