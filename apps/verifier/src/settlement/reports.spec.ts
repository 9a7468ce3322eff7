import { laneBookKey, parseBookEvent } from '@tollgate/book-events';
import { nameOfPayment, signedPaymentId } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { waitFor } from '../../../../test/harness/retry.js';
import { settingsOf } from '../../test/settings-of.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

const LIMIT = 1_000;

describe('what a relayer reports to the book', () => {
  let fixture: SettlementFixture;
  let redis: Redis;
  let metrics: string;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    const { app } = await fixture.startVerifier({ BOOK: 'on', BOOK_OUTBOX_LIMIT: String(LIMIT) });
    metrics = `${await app.getUrl()}/metrics`;
    redis = new Redis(fixture.redis.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await fixture.stop();
  });

  const readStream = async (): Promise<string> => {
    const [lane] = await redis.smembers('tollgate:{relayers}:lanes');
    return laneBookKey(lane ?? '');
  };

  it('is each transaction with its gas and what it moved of each payment', async () => {
    const payment = await fixture.sign();
    const result = await fixture.settle(payment, { settings: settingsOf(fixture.chain, { BOOK: 'on' }) });
    if (result.outcome !== 'settled') throw new Error(`It is ${result.outcome}.`);
    const { chainId, asset, payTo } = fixture.chain;
    let events: ReturnType<typeof parseBookEvent>[] = [];
    await waitFor('the report', async () => {
      events = (await redis.xrange(await readStream(), '-', '+')).map(([, fields]) => parseBookEvent(fields));
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
          payments: [{ payment: name, payTo: payTo.toLowerCase(), payer: payment.authorization.from, amount: '1000' }],
        },
      },
    ]);
  });

  it('names what it moved to a recipient that is another seller', async () => {
    const other = `0x${'0e'.repeat(20)}` as const;
    const payment = await fixture.sign({ to: other });
    const { terms } = fixture.createRequest(payment);
    const asked = { terms: { ...terms, payTo: other }, settings: settingsOf(fixture.chain, { BOOK: 'on' }) };
    expect(await fixture.settle(payment, asked)).toMatchObject({ outcome: 'settled' });
    const expected = JSON.stringify([
      [fixture.chain.payTo.toLowerCase(), undefined],
      [other, true],
    ]);
    await waitFor('the report', async () => {
      const events = (await redis.xrange(await readStream(), '-', '+')).map(([, fields]) => parseBookEvent(fields));
      const moved = events.flatMap((event) => (event.type === 'settled' ? event.facts.payments : []));
      return JSON.stringify(moved.map(({ payTo, forOther }) => [payTo, forOther])) === expected;
    });
  });

  it('is so much that no payment is settled until the bookkeeper has read some; none is charged or lost', async () => {
    const payment = await fixture.sign();
    const settle = () => fixture.settle(payment, { settings: settingsOf(fixture.chain, { BOOK: 'on' }) });
    const before = await fixture.readBalance();
    const events = redis.pipeline();
    for (let event = 0; event < LIMIT; event++) events.xadd(await readStream(), '*', 'v', '1');
    await events.exec();
    expect(await settle()).toMatchObject({ outcome: 'unavailable', reason: 'relayer_outbox_full' });
    expect(await fixture.readBalance()).toBe(before);
    // What the alert BookOutboxFills compares with BOOK_OUTBOX_LIMIT.
    await waitFor('it is shown', async () => {
      const [, waiting = '0'] =
        /^tollgate_book_outbox_events\S* (\d+)$/m.exec(await (await fetch(metrics)).text()) ?? [];
      return Number(waiting) >= LIMIT;
    });
    await redis.xtrim(await readStream(), 'MAXLEN', LIMIT - 1);
    expect(await settle()).toMatchObject({ outcome: 'settled' });
    expect(await fixture.readBalance()).toBe(before + 1000n);
  });
});
