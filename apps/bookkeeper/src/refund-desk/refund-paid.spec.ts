import { Logger } from '@nestjs/common';
import { WalletDirectory } from '@tollgate/agent-jobs';
import type { PaymentPicture } from '@tollgate/book';
import { nameOfPayment, readPaymentName } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { hashOf } from '../../../../libs/book/test/sample-events.js';
import { FAILURE, planSample, sampleAttempt, spoilJob } from '../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { deployToken } from '../../../../tools/devnet/chain/deploy.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PRICE, RefundFixture } from '../../test/refund-fixture.js';
import type { OperatorRefund } from './refund-desk.js';

const CONFIRMATIONS = 3;
const SETTINGS = { RECONCILE_CONFIRMATIONS: String(CONFIRMATIONS) };

describe('a refund whose job is lost, and the transaction that a person names', () => {
  let fixture: RefundFixture;
  let token: string;
  let wallet: Hex;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await RefundFixture.start();
    wallet = fixture.lane.address;
    await publish();
    await fixture.startBookkeeper(SETTINGS);
    token = await fixture.base.createToken('operator:read', 'operator:refund');
  }, 120_000);

  afterEach(async () => {
    await fixture.stopWorker();
    await rpc('evm_setAutomine', true);
  });

  afterAll(() => fixture.stop());

  const publish = () => new WalletDirectory(fixture.base.redis).publish({ name: 'refunds', lane: fixture.lane });
  const rpc = (method: string, ...params: unknown[]) => callRpc(fixture.chain.rpcUrl, method, params);
  const name = (id: string, transaction: string) => fixture.nameTransaction(id, transaction, token);
  const decide = (id: string, decision: 'retry' | 'give-up') =>
    fixture.post<OperatorRefund>(`/operator/refunds/${id}/${decision}`, token);
  const refusal = (detail: string, reason = 'transaction') => ({
    ...{ status: 409, body: { reason, detail: expect.stringContaining(detail) } },
  });
  const readBooked = async (payment: string): Promise<PaymentPicture> =>
    (await fixture.get<PaymentPicture>(`/operator/payments/${payment}`, token)).body;

  /** A transfer to the payer, of the price, by the wallet of refunds, unless it is said otherwise. */
  const send = (more: { from?: Hex; to?: Hex; token?: Hex; amountBaseUnits?: bigint } = {}): Promise<Hex> =>
    transferTokens(fixture.chain, { from: wallet, to: fixture.payer, amountBaseUnits: PRICE, ...more });

  async function changeBook(sql: string): Promise<void> {
    await fixture.base.endBookkeepers();
    await fixture.base.change(sql);
    await fixture.startBookkeeper(SETTINGS);
  }

  async function ask(payment: string, more: object = {}): Promise<OperatorRefund> {
    const { status, body } = await fixture.post<OperatorRefund>('/operator/refunds', token, { payment, ...more });
    expect([status, body]).toMatchObject([202, { payment }]);
    return fixture.waitUntilRead(body, token);
  }

  /** A refund that the journal no longer knows. */
  async function lose({ id, job }: OperatorRefund): Promise<void> {
    const { redis } = fixture.base;
    await fixture.base.endBookkeepers();
    expect(await fixture.journal.cancel(job!)).toMatchObject({ outcome: 'done' });
    await redis.del(...(await redis.keys(`tollgate:{*}:job:${job}*`)));
    await fixture.startBookkeeper(SETTINGS);
    expect(await fixture.waitForRefund(id, 'failed', token)).toMatchObject({ maybeSent: true });
  }

  async function mineUntilFinal(): Promise<void> {
    await rpc('anvil_mine', `0x${CONFIRMATIONS.toString(16)}`);
  }

  it('is not booked by the transaction of another refund to the same payer, booked or not', async () => {
    const lost = await ask(await fixture.payRefused());
    await lose(lost);
    const id = await fixture.pay();
    await fixture.refuse(id);
    const other = await ask(nameOfPayment(id));
    await rpc('evm_setAutomine', false);
    await fixture.startWorker();
    let transaction: Hex | undefined;
    await waitFor('it is sent', async () => {
      await fixture.wakeAll();
      const attempt = (await fixture.journal.readJob(other.job!))?.steps[0]?.attempts[0];
      if (attempt !== undefined && attempt.sentAtMs !== null) transaction = attempt.hash;
      return transaction !== undefined;
    });
    // The transaction is mined while no worker reports it to the book.
    await fixture.stopWorker();
    await rpc('evm_setAutomine', true);
    await rpc('evm_mine');
    await mineUntilFinal();
    expect(await name(lost.id, transaction!)).toMatchObject(refusal(`The job of the refund ${other.id} has sent it`));
    await fixture.startWorker();
    expect(await fixture.waitForRefund(other.id, 'refunded', token)).toMatchObject({ transaction });
    expect(await name(lost.id, transaction!)).toMatchObject(refusal(`booked already, for ${other.id}`));
    expect(await name(other.id, lost.id)).toMatchObject({ status: 400 });
    // As where its job was lost when a person named its transaction to the other one, and is there again.
    await changeBook(`UPDATE refunds SET state = 'sending', transaction = NULL WHERE id = '${other.id}';
      UPDATE refunds SET state = 'refunded', transaction = '${transaction}' WHERE id = '${lost.id}'`);
    const failed = await fixture.waitForRefund(other.id, 'failed', token);
    expect(failed).toMatchObject({ maybeSent: true, detail: expect.stringContaining(`booked for ${lost.id}`) });
  }, 180_000);

  it('keeps another refund waiting while the ledger has it as paid, and it is in work', async () => {
    const payment = await fixture.payRefused();
    const first = await ask(payment, { amount: '4000' });
    // As in a book that was restored: the job is read again, and the refund is booked again.
    const facts = { refund: first.id, transaction: hashOf(901), amount: '4000', recipient: fixture.payer };
    await fixture.recordUnreported(readPaymentName(payment)!, facts);
    const second = await ask(payment, { amount: '6000', number: 2 });
    expect(second).toMatchObject({ state: 'closed', detail: expect.stringContaining('is booked') });
    await fixture.startWorker();
    await fixture.waitForRefund(first.id, 'refunded', token);
    await fixture.waitForRefund(second.id, 'refunded', token);
    await waitFor('both are booked', async () => (await readBooked(payment)).refunded === String(PRICE));
  }, 120_000);

  it('is not booked by a transaction that did not pay it', async () => {
    const refund = await ask(await fixture.payRefused());
    await lose(refund);
    const [, other] = fixture.chain.accounts;
    const otherToken = await deployToken(fixture.chain);
    await send({ from: other!.address, to: wallet, token: otherToken });
    const wrong = {
      token: await send({ token: otherToken }),
      recipient: await send({ to: other!.address }),
      sender: await send({ from: other!.address }),
      failed: await send({ amountBaseUnits: 10n ** 30n }),
      tooMuch: await send({ amountBaseUnits: PRICE + 1n }),
    };
    await mineUntilFinal();
    for (const transaction of [wrong.token, wrong.recipient, wrong.sender]) {
      expect(await name(refund.id, transaction)).toMatchObject(refusal('no transfer of the refund'));
    }
    expect(await name(refund.id, wrong.failed)).toMatchObject(refusal('does not show this transaction as successful'));
    expect(await name(refund.id, wrong.tooMuch)).toMatchObject(refusal('leave less', 'exceeds'));
    const right = await send();
    expect(await name(refund.id, right)).toMatchObject(refusal('not final yet'));
    await mineUntilFinal();
    await changeBook(`UPDATE refunds SET chain_id = 1 WHERE id = '${refund.id}'`);
    expect(await name(refund.id, right)).toMatchObject(refusal('of chain 1'));
    await changeBook(`UPDATE refunds SET chain_id = ${fixture.chain.chainId} WHERE id = '${refund.id}'`);
    expect(await name(refund.id, right)).toMatchObject({
      status: 200,
      body: { state: 'refunded', amount: String(PRICE) },
    });
  }, 120_000);

  it('is booked with what the chain shows, where it was asked for with another amount', async () => {
    const payment = await fixture.payRefused();
    const refund = await ask(payment, { amount: '6000' });
    await lose(refund);
    const transaction = await send({ amountBaseUnits: 4_000n });
    await mineUntilFinal();
    expect(await name(refund.id, transaction)).toMatchObject({
      status: 200,
      body: { state: 'refunded', amount: '4000', askedAmount: '6000' },
    });
    // Prevents: the answer to the same request names the next number, and a program that uses it refunds more than it asked for.
    for (const amount of ['6000', '4000']) expect(await ask(payment, { amount })).toMatchObject({ id: refund.id });
    const other = await fixture.post('/operator/refunds', token, { payment, amount: '5000' });
    expect(other).toMatchObject({ status: 409, body: { code: 'refund_differs' } });
    await waitFor('it is booked', async () => (await readBooked(payment)).refunded === '4000');
    // The rest is not lost with it.
    expect(await ask(payment, { number: 2 })).toMatchObject({ amount: '6000', state: 'sending' });
  }, 120_000);

  it('is booked where the ledger has it as paid and a person gave it up, and no longer blocks the rest', async () => {
    const payment = await fixture.payRefused();
    const first = await ask(payment, { amount: '4000' });
    await lose(first);
    const transaction = await send({ amountBaseUnits: 4_000n });
    await mineUntilFinal();
    expect(await decide(first.id, 'give-up')).toMatchObject({ status: 200, body: { state: 'given_up' } });
    // As in a book that was restored: the ledger, which reports to no book here, knows more.
    const facts = { refund: first.id, transaction, amount: '4000', recipient: fixture.payer };
    await fixture.recordUnreported(readPaymentName(payment)!, facts);
    const asked = await ask(payment, { amount: '6000', number: 2 });
    const second = await fixture.waitForRefund(asked.id, 'failed', token);
    expect(second).toMatchObject({ detail: expect.stringContaining(first.id) });
    expect(await name(second.id, transaction)).toMatchObject(refusal(`has ${first.id} as paid`));
    expect(await name(first.id, transaction)).toMatchObject({ status: 200, body: { state: 'refunded' } });
    await waitFor('it is booked', async () => (await readBooked(payment)).refunded === '4000');
    const retried = await decide(second.id, 'retry');
    expect(retried.status).toBe(202);
    expect(await fixture.waitUntilRead(retried.body, token)).toMatchObject({ state: 'sending', attempt: 2 });
  }, 120_000);

  // Prevents: the payer is paid by that job too.
  it('is not booked by another transaction while its own job, which is there again, may still send', async () => {
    const { id, job } = await ask(await fixture.payRefused());
    await fixture.base.endBookkeepers();
    const putBack = await fixture.loseJob(job!);
    await fixture.startBookkeeper(SETTINGS);
    await fixture.waitForRefund(id, 'failed', token);
    expect(await decide(id, 'give-up')).toMatchObject({ status: 200 });
    await putBack();
    const transaction = await send();
    await mineUntilFinal();
    expect(await name(id, transaction)).toMatchObject(refusal('may still pay it'));
    const { token: lease } = (await fixture.journal.takeLease(fixture.lane, 'worker', 60_000))!;
    const write = { jobId: job!, stepIndex: 0, token: lease };
    await planSample(fixture.journal, write);
    const { nonce } = (await fixture.journal.reserve({ ...write, maxInFlight: 1 })) as { nonce: number };
    const attempt = { ...sampleAttempt(), hash: await send() };
    await fixture.journal.putAttempt({ ...write, nonce, expectedAttempts: 0, attempt });
    await fixture.journal.needOperator({ ...write, failure: FAILURE });
    await mineUntilFinal();
    expect(await name(id, transaction)).toMatchObject(refusal('may still pay it'));
    // Its own transaction uses its nonce: it sends no other, and only a resume ends it.
    const approver = await fixture.base.createToken('operator:approve');
    expect(await fixture.post(`/operator/jobs/${job}/resume`, approver)).toMatchObject({ status: 200 });
    expect(await name(id, attempt.hash)).toMatchObject({ status: 200, body: { state: 'refunded' } });
  }, 120_000);

  it('is booked where another account was the wallet when it was sent', async () => {
    const payment = await fixture.payRefused();
    const refund = await ask(payment);
    await lose(refund);
    const [, before] = fixture.chain.agentWallets;
    const transaction = await send({ from: before!.address });
    await mineUntilFinal();
    expect(await name(refund.id, transaction)).toMatchObject(refusal('no transfer of the refund'));
    // The book follows the accounts whose transactions were reported to it.
    await changeBook(`INSERT INTO senders (chain_id, address, nonce, block_number)
      VALUES (${fixture.chain.chainId}, '${before!.address.toLowerCase()}', 0, 0)`);
    // What an account has sent is of no job of another account, readable or not.
    const { job } = await ask(await fixture.payRefused());
    const mend = await spoilJob(fixture.base.redis, fixture.lane, job!);
    const own = await send();
    await mineUntilFinal();
    expect(await name(refund.id, own)).toMatchObject(refusal('cannot be read'));
    expect(await name(refund.id, transaction)).toMatchObject({ status: 200, body: { state: 'refunded' } });
    await mend();
  }, 120_000);
});
