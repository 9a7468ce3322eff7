import { Logger } from '@nestjs/common';
import type { BookHealth } from '@tollgate/operator-api';

import { waitFor } from '../../../../test/harness/retry.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { ReconcileFixture } from '../../test/reconcile-fixture.js';

describe('a book to which no process reports for a while', () => {
  let fixture: ReconcileFixture;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await ReconcileFixture.start();
  });

  afterAll(() => fixture.stop());

  const readCompleteFrom = async (): Promise<string | null> =>
    (await fixture.get<BookHealth>('/operator/health')).completeFrom;

  it('does not take what is sold meanwhile for unclaimed money', async () => {
    await waitFor('the book is complete', async () => (await readCompleteFrom()) !== null);
    await fixture.waitUntilCompared();
    const warn = jest.spyOn(Logger.prototype, 'warn');
    // As the first process with BOOK=off does.
    await fixture.books.redis.hset('tollgate:{pay-7}:birth:1328', 'epoch', '1');
    await fixture.books.redis.hdel('tollgate:{pay-7}:birth:1328', 'booked');
    await waitFor('the book is not complete', async () => (await readCompleteFrom()) === null);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^a process with BOOK=off uses the ledger/));
    const meanwhile = await fixture.pay(5_000n);
    await waitFor('nothing is compared', async () => (await fixture.read()).trouble !== null);
    const line =
      'the book is not compared with the chain chain-testnet: the book is not complete yet (BOOK=on), or no block is final';
    expect(warn.mock.calls.filter(([said]) => said === line)).toHaveLength(1);
    // Blocks count whole seconds, and may run ahead of the clock.
    const head = await callRpc(fixture.chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
    const afterHeadMs = (Number((head as { timestamp: string }).timestamp) + 1) * 1000;
    await fixture.completeFrom(afterHeadMs);
    await waitFor('that second has come', () => Promise.resolve(Date.now() > afterHeadMs + 1_000));
    await fixture.waitForState(fixture.nameOf(await fixture.pay(4_000n)), 'unclaimed');
    expect(await fixture.findPayment(fixture.nameOf(meanwhile))).toMatchObject({ status: 404 });
    expect((await fixture.read()).chainOnly).toMatchObject([
      { transaction: meanwhile, reason: 'before_the_book_was_complete' },
    ]);
    // The missing mark is not seen if a process with BOOK=on sells right after one with BOOK=off.
    await fixture.completeFrom(afterHeadMs + 1);
    const moved = /^the book is complete only from .*: a process with BOOK=off sold before it, or Redis lost data/;
    await waitFor('it is told', () => Promise.resolve(warn.mock.calls.some(([said]) => moved.test(String(said)))));
  });
});
