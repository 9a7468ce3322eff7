import { Logger } from '@nestjs/common';
import { WalletDirectory } from '@tollgate/agent-jobs';
import { Ledger, nameOfPayment, type PaymentId } from '@tollgate/ledger';

import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PRICE, RefundFixture } from '../../test/refund-fixture.js';
import type { OperatorRefund } from './refund-desk.js';
import type { RefundPreview } from './refund-previews.js';

/** Bought, served, lost by Redis, and presented again. */
describe('a payment that was served before Redis lost its data', () => {
  let fixture: RefundFixture;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    fixture = await RefundFixture.start();
  }, 120_000);

  afterEach(() => fixture.stop());

  /** Everything in Redis is gone; verifiers open the ledger anew, and the payer presents the payment again. */
  async function loseAndPresent(id: PaymentId): Promise<void> {
    await fixture.base.redis.flushall();
    await new WalletDirectory(fixture.base.redis).publish({ name: 'refunds', lane: fixture.lane });
    const head = Number(await callRpc(fixture.chain.rpcUrl, 'eth_blockNumber'));
    const ledger = new Ledger({ redis: fixture.base.redis, timeoutMs: 30_000, book: { outboxLimit: 100_000 } });
    await ledger.open({ headBlockNumber: head });
    const again = fixture.claimRequest(id, head);
    expect(await ledger.claim(again)).toMatchObject({ outcome: 'refused', failure: 'older_than_ledger' });
    const { address } = fixture.chain.accounts[0]!;
    await ledger.recordRefusal({ id, failure: 'older_than_ledger', amountBaseUnits: PRICE, payer: address });
  }

  it('is not refunded without a person, where the book did not learn of the answer', async () => {
    const id = await fixture.pay();
    await fixture.sell(id);
    await loseAndPresent(id);
    await fixture.startBookkeeper();
    await fixture.adopt();
    await fixture.startWorker();
    const token = await fixture.base.createToken('operator:read', 'operator:refund', 'operator:approve');
    const payment = nameOfPayment(id);
    await fixture.waitUntilBooked(payment);
    const { address } = fixture.chain.accounts[0]!;
    const before = await fixture.balanceOf(address);
    const { status, body } = await fixture.post<OperatorRefund>('/operator/refunds', token, { payment });
    expect(status).toBe(202);
    expect(body.doubts).toEqual([expect.stringContaining('may have bought an answer')]);
    const waiting = await fixture.waitForApproval(body.id, token);
    const own = await fixture.post(`/operator/jobs/${waiting.job}/approve`, token, { plan: waiting.planDigest });
    expect(own.status).toBe(403);
    expect(await fixture.balanceOf(address)).toBe(before);
  }, 120_000);

  it('is known as sold, where the book had learnt of the answer', async () => {
    await fixture.startBookkeeper();
    const id = await fixture.pay();
    await fixture.sell(id);
    const payment = nameOfPayment(id);
    await fixture.waitUntilBooked(payment);
    await loseAndPresent(id);
    const token = await fixture.base.createToken('operator:read', 'operator:refund');
    const { body } = await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`, token);
    expect(body).toMatchObject({ boughtAnswer: true, obstacles: [{ reason: 'answered' }] });
    const refused = await fixture.post('/operator/refunds', token, { payment });
    expect(refused).toMatchObject({ status: 409, body: { reason: 'answered' } });
  }, 120_000);
});
