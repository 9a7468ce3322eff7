import { createTestBook, type TestBook } from '../../test/create-test-book.js';
import { ASSET, deliver, PAYER, refused, SELLER, transferId } from '../../test/sample-events.js';
import type { ClaimedDatabase } from '../database/database.js';
import { BookWriter } from '../posting/book-writer.js';
import { postEvents } from '../posting/post-events.js';
import type { Refund, RefundCaps } from './refund.js';
import { askForRefund, changeRefund, retryRefund, type AskLimits } from './write-refunds.js';

const NO_CAPS: RefundCaps = { each: null, perPayerAndDay: null, perKeyAndDay: null, perDay: null };

describe('writing refunds', () => {
  let book: TestBook;
  let database: ClaimedDatabase;
  let writer: BookWriter;
  let number = 0;

  beforeAll(async () => {
    book = await createTestBook();
    database = await book.claim();
    writer = await BookWriter.open(database, 'spec');
  });

  beforeEach(() => database.execute('DELETE FROM refunds'));

  afterAll(async () => {
    await database.close();
    await book.remove();
  });

  /** Asks for the refund of a payment of 10000 base units. */
  async function ask(amount: string, limits: Partial<AskLimits> = {}): Promise<Refund> {
    const payment = transferId(++number);
    await postEvents(writer, [deliver(refused(payment))], SELLER);
    const terms = {
      ...{ id: `r${number}-1`, payment, number: 1, amount, chainId: 1328, asset: ASSET, recipient: PAYER },
      ...{ permit: null, reason: null, answered: false, doubts: [] },
    };
    const asked = await askForRefund(writer, terms, { keyId: 'key-1', caps: NO_CAPS, large: null, ...limits });
    if (asked.outcome !== 'asked') throw new Error(asked.outcome);
    return asked.refund;
  }

  async function fail(refund: Refund): Promise<Refund> {
    const failed = await changeRefund(writer, refund, ['asked', 'closed'], { state: 'failed' });
    if (failed === null) throw new Error('it was not changed');
    return failed;
  }

  it('counts a refund for the caps of the day on which it is sent again, and of the key that does it', async () => {
    const old = [await fail(await ask('6000')), await fail(await ask('6000'))] as const;
    await database.execute(
      "UPDATE refunds SET attempt_at = now() - interval '3 days', asked_at = now() - interval '3 days'",
    );
    const retry = (refund: Refund, caps: Partial<RefundCaps>, keyId = 'key-2') =>
      retryRefund(writer, refund, { keyId, caps: { ...NO_CAPS, ...caps } });
    expect(await retry(old[0], { each: 5_999n })).toEqual({ outcome: 'over_cap', cap: 'each', left: 5_999n });
    expect(await retry(old[0], { perDay: 10_000n })).toMatchObject({ outcome: 'retried', refund: { attempt: 2 } });
    expect(await retry(old[1], { perDay: 10_000n })).toEqual({ outcome: 'over_cap', cap: 'perDay', left: 4_000n });
    expect(await retry(old[1], { perPayerAndDay: 10_000n })).toMatchObject({ cap: 'perPayerAndDay' });
    expect(await retry(old[1], { perKeyAndDay: 10_000n })).toMatchObject({ cap: 'perKeyAndDay' });
    expect(await retry(old[1], { perKeyAndDay: 10_000n }, 'key-3')).toMatchObject({ outcome: 'retried' });
  });

  it('does not count a refund against itself when it is sent again on the same day', async () => {
    const failed = await fail(await ask('6000'));
    const caps = { ...NO_CAPS, perDay: 6_000n };
    expect(await retryRefund(writer, failed, { keyId: 'key-1', caps })).toMatchObject({ outcome: 'retried' });
  });

  it('makes one attempt of two retries that have read the same refund, and changes no later attempt', async () => {
    const failed = await fail(await ask('6000'));
    const limits = { keyId: 'key-1', caps: NO_CAPS };
    const retried = await retryRefund(writer, failed, limits);
    if (retried.outcome !== 'retried') throw new Error(retried.outcome);
    await fail(retried.refund);
    expect(await retryRefund(writer, failed, limits)).toEqual({ outcome: 'changed' });
    expect(await changeRefund(writer, failed, ['failed'], { state: 'given_up' })).toBeNull();
  });
});
