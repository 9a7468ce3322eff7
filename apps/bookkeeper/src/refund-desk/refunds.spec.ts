import { Logger } from '@nestjs/common';
import { nameRefund } from '@tollgate/agent-jobs';
import { retryRefund } from '@tollgate/book';
import { planPermitTransfer } from '@tollgate/chain';
import { nameOfPayment, signedPaymentId, type PaymentId } from '@tollgate/ledger';
import type { Hex, SignedPermit } from '@tollgate/protocol';
import type { RedisClient } from '@tollgate/redis';

import { spoilJob } from '../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { tollgate } from '../../../../tools/cli/test/run-tollgate.js';
import { approvePermit2, signPermit } from '../../../../tools/devnet/chain/sign-permit.js';
import { encodeTransfer, sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PRICE, RefundFixture } from '../../test/refund-fixture.js';
import { BookHolder } from '../book/book-holder.js';
import { BookkeeperConnections } from '../drain/connections.js';
import type { RefundPreview } from '../refunds/refund-previews.js';
import { RefundDesk, type OperatorRefund } from './refund-desk.js';

const LIMITS = { REFUND_MOST_PER_PAYER: '2', REFUND_APPROVAL_ABOVE: '0.5' };

const lower = (address: Hex): Hex => address.toLowerCase() as Hex;

describe('refunds', () => {
  let fixture: RefundFixture;
  let token: string;
  let approver: string;
  let payer: Hex;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await RefundFixture.start();
    payer = lower(fixture.chain.accounts[0]!.address);
    token = await fixture.base.createToken('operator:read', 'operator:refund', 'operator:approve');
    approver = await fixture.base.createToken('operator:read', 'operator:approve');
    await startBookkeeper();
    await fixture.startWorker();
  }, 120_000);

  afterAll(() => fixture.stop());

  const startBookkeeper = (): Promise<void> => fixture.startBookkeeper(LIMITS);
  const preview = async (payment: string): Promise<RefundPreview> =>
    (await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`, token)).body;
  const ask = (payment: string, more: object = {}) =>
    fixture.post<OperatorRefund & { code?: string; reason?: string }>('/operator/refunds', token, { payment, ...more });

  async function approve(id: string): Promise<void> {
    const { job, planDigest } = await fixture.waitForApproval(id, token);
    const approved = await fixture.post(`/operator/jobs/${job}/approve`, approver, { plan: planDigest });
    expect(approved.status).toBe(200);
  }

  it('pays a refused payment back once, to the payer that the chain shows, and books it', async () => {
    const payment = await fixture.payRefused();
    expect(await preview(payment)).toMatchObject({
      ...{ arrived: String(PRICE), left: String(PRICE), taken: '0', number: 1, boughtAnswer: false },
      ...{ recipient: { address: payer, kind: 'account' }, doubts: [], obstacles: [], refunds: [] },
    });
    const before = await fixture.balanceOf(payer);
    const asked = await ask(payment, { reason: 'came too late' });
    expect(asked).toMatchObject({ status: 202, body: { recipient: payer, amount: String(PRICE) } });
    const refund = await fixture.waitForRefund(asked.body.id, 'refunded', token);
    expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
    expect(refund.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    await waitFor('it is booked', async () => {
      const { body } = await fixture.get<{ state: string; refunded: string }>(`/operator/payments/${payment}`, token);
      return body.state === 'refunded' && body.refunded === String(PRICE);
    });
    // The same command again is the same refund, and nothing is left for another.
    expect(await ask(payment, { reason: 'came too late' })).toMatchObject({ status: 202, body: { id: refund.id } });
    expect(await ask(payment, { number: 2 })).toMatchObject({ status: 409, body: { reason: 'nothing_left' } });
    expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
  });

  it('pays back each of two payments of one block to its payer', async () => {
    const payers = fixture.chain.accounts.slice(4, 6).map(({ address }) => address);
    const { rpcUrl, asset: to } = fixture.chain;
    const data = encodeTransfer(fixture.chain, { amountBaseUnits: PRICE });
    const send = (from: Hex) => callRpc(rpcUrl, 'eth_sendTransaction', [{ from, to, data, gas: '0x30d40' }]);
    await callRpc(rpcUrl, 'evm_setAutomine', [false]);
    const ids = (await Promise.all(payers.map(send))).map((txHash) => fixture.paymentOf(txHash as Hex));
    await callRpc(rpcUrl, 'evm_setAutomine', [true]);
    await callRpc(rpcUrl, 'evm_mine');
    const receipts = ids.map(({ txHash }) => callRpc(rpcUrl, 'eth_getTransactionReceipt', [txHash]));
    const [first, second] = (await Promise.all(receipts)) as { blockNumber: string }[];
    expect(first?.blockNumber).toBe(second?.blockNumber);
    for (const id of ids) await fixture.refuse(id);
    const previews = await Promise.all(ids.map((id) => preview(nameOfPayment(id))));
    expect(previews.map(({ recipient }) => recipient?.address)).toEqual(payers.map(lower));
    expect(previews.flatMap(({ obstacles }) => obstacles)).toEqual([]);
  });

  // Prevents: a forged event names a transfer anew, and the transfer is paid back once for each name.
  it('pays a transfer back once, whatever the events call it', async () => {
    const id = await fixture.pay();
    await fixture.refuse(id);
    const { chainId, txHash } = id;
    const { id: refund } = (await ask(nameOfPayment(id))).body;
    const nonce: Hex = `0x${'7'.repeat(64)}`;
    const names: PaymentId[] = [
      { kind: 'authorization', chainId, asset: lower(fixture.chain.asset), from: payer, nonce },
      { kind: 'permit2', chainId, owner: payer, nonce: '7' },
      { kind: 'transfer', chainId: 1, txHash, logIndex: 0 },
      { kind: 'transaction', chainId, txHash },
    ];
    for (const forged of names) {
      const payment = nameOfPayment(forged);
      const facts = {
        ...{ failure: 'payment_too_old', payer, amount: String(PRICE), transaction: txHash, logIndex: 0 },
        ...{ minedAtMs: null, detail: null, count: 1 },
      };
      const event = { v: '1', type: 'refused', at: String(Date.now()), payment, facts: JSON.stringify(facts) };
      await fixture.base.redis.xadd('tollgate:{refused}:events', '*', ...Object.entries(event).flat());
      await fixture.waitUntilBooked(payment);
      const reason = forged.kind === 'transaction' ? 'nothing_left' : /^(paid_nothing|not_on_chain)$/;
      expect(await ask(payment)).toMatchObject({
        ...{ status: 409, body: { code: 'refund_refused', reason: expect.stringMatching(reason) } },
      });
    }
    await fixture.waitForRefund(refund, 'refunded', token);
  });

  it('lets a person look while book and chain differ about the transaction', async () => {
    const payment = await fixture.payRefused();
    const transaction = payment.split(':')[2]!;
    await fixture.base.database.query(
      `INSERT INTO differences (list, subject, transaction, asset, amount, at, reason)
        VALUES ('book_only', 'auth:1', $1, '1328:0x', 10000, now(), 'no_transfer_left')`,
      [transaction],
    );
    expect((await preview(payment)).doubts).toEqual([expect.stringContaining('Book and chain differ')]);
    await fixture.base.database.query('DELETE FROM differences');
    expect((await preview(payment)).doubts).toEqual([]);
  });

  it('refuses every presentation from then on', async () => {
    const id = await fixture.pay();
    await fixture.refuse(id);
    await ask(nameOfPayment(id));
    const claim = fixture.claimRequest(id, 1_000_000);
    expect(await fixture.ledger.claim(claim)).toMatchObject({ outcome: 'refused', failure: 'payment_refunded' });
  });

  describe('of a transfer that a permit caused', () => {
    let permit: SignedPermit;
    let claim: PaymentId;
    let payment: string;

    /** Sent by its payer, and in the book under the name of the transaction. */
    beforeEach(async () => {
      const [, , , , , , , owner] = fixture.chain.accounts;
      await approvePermit2(fixture.chain, { owner: owner!.address });
      permit = await signPermit(fixture.chain, owner!, { amountBaseUnits: PRICE });
      const from = owner!.address;
      const txHash = await sendTransaction(fixture.chain, { from, ...planPermitTransfer(permit, PRICE) });
      const receipt = await callRpc(fixture.chain.rpcUrl, 'eth_getTransactionReceipt', [txHash]);
      const { logs } = receipt as { logs: { address: Hex; topics: Hex[] }[] };
      const asset = lower(fixture.chain.asset);
      const logIndex = logs.findIndex(({ address, topics }) => lower(address) === asset && topics.length === 3);
      const { chainId } = fixture.chain;
      const id: PaymentId = { kind: 'transfer', chainId, txHash, logIndex };
      claim = signedPaymentId({ chainId, asset }, permit);
      await fixture.refuse(id);
      payment = nameOfPayment(id);
    });

    it('closes the permit too, so that it buys nothing afterwards', async () => {
      expect(await preview(payment)).toMatchObject({ permit: nameOfPayment(claim), doubts: [], obstacles: [] });
      const { body } = await ask(payment);
      expect(await fixture.ledger.claim(fixture.claimRequest(claim, 1_000_000))).toMatchObject({
        ...{ outcome: 'refused', failure: 'payment_refunded' },
      });
      await fixture.waitForRefund(body.id, 'refunded', token);
      // The book has the money once, under the name of the transfer.
      expect((await fixture.get(`/operator/payments/${nameOfPayment(claim)}`, token)).status).toBe(404);
    });

    it('is refused while a request holds the permit, and once the permit has bought an answer', async () => {
      const lease = await fixture.claim(claim);
      expect(await ask(payment)).toMatchObject({ status: 409, body: { reason: 'ledger' } });
      await fixture.commit(lease);
      expect(await ask(payment)).toMatchObject({ status: 409, body: { reason: 'ledger' } });
    });
  });

  it('pays back in parts, never more than what arrived', async () => {
    const payment = await fixture.payRefused();
    expect(await ask(payment, { amount: '10001' })).toMatchObject({ status: 409, body: { reason: 'exceeds' } });
    const first = await ask(payment, { amount: '4000' });
    expect(await ask(payment, { amount: '4001' })).toMatchObject({ status: 409, body: { code: 'refund_differs' } });
    expect(await ask(payment, { number: 3, amount: '1' })).toMatchObject({ status: 409, body: { reason: 'number' } });
    expect(await ask(payment, { number: 2, amount: '6001' })).toMatchObject({
      status: 409,
      body: { reason: 'exceeds' },
    });
    const second = await ask(payment, { number: 2 });
    expect(second.body.amount).toBe('6000');
    for (const { body } of [first, second]) await fixture.waitForRefund(body.id, 'refunded', token);
    expect(await preview(payment)).toMatchObject({ left: '0', obstacles: [{ reason: 'nothing_left' }] });
  });

  it('makes one refund of many requests at once', async () => {
    // No other payer is refunded meanwhile.
    const [, other] = fixture.chain.accounts;
    const id = await fixture.pay(other!.address);
    await fixture.refuse(id);
    const payment = nameOfPayment(id);
    const before = await fixture.balanceOf(other!.address);
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(payment)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([nameRefund(payment, 1)]));
    await fixture.waitForRefund(answers[0]!.body.id, 'refunded', token);
    expect((await fixture.balanceOf(other!.address)) - before).toBe(PRICE);
  });

  it('pays back at most what arrived of different refunds that are asked for at once', async () => {
    // No other payer is refunded meanwhile.
    const [, , , , , , other] = fixture.chain.accounts;
    const id = await fixture.pay(other!.address);
    await fixture.refuse(id);
    const payment = nameOfPayment(id);
    const before = await fixture.balanceOf(other!.address);
    const second = await fixture.base.createToken('operator:read', 'operator:refund');
    const requests: [string, object][] = [
      [token, { amount: '6000' }],
      [second, { amount: '7000' }],
      [token, { number: 2, amount: '6000' }],
      [second, { number: 2, amount: '4000' }],
    ];
    const answers = await Promise.all(
      requests.map(([key, more]) => fixture.post<OperatorRefund>('/operator/refunds', key, { payment, ...more })),
    );
    expect(answers.filter(({ status }) => ![202, 409].includes(status))).toEqual([]);
    const made = answers.flatMap(({ status, body }) => (status === 202 ? [body] : []));
    const sum = made.reduce((units, { amount }) => units + BigInt(amount), 0n);
    expect(made.length).toBeGreaterThan(0);
    expect(sum).toBeLessThanOrEqual(PRICE);
    for (const refund of made) await fixture.waitForRefund(refund.id, 'refunded', token);
    expect((await fixture.balanceOf(other!.address)) - before).toBe(sum);
  });

  it('lets a person look where the payer is a contract, by a key that did not ask', async () => {
    const [, , other] = fixture.chain.accounts;
    const id = await fixture.pay(other!.address);
    await fixture.refuse(id);
    // An account with code that refuses every call.
    await callRpc(fixture.chain.rpcUrl, 'anvil_setCode', [other!.address, '0x60006000fd']);
    const payment = nameOfPayment(id);
    expect(await preview(payment)).toMatchObject({ recipient: { address: lower(other!.address), kind: 'contract' } });
    const { body } = await ask(payment);
    const waiting = await fixture.waitForApproval(body.id, token);
    const own = await fixture.post(`/operator/jobs/${waiting.job}/approve`, token, { plan: waiting.planDigest });
    expect(own).toMatchObject({ status: 403, body: { code: 'own_job' } });
    const before = await fixture.balanceOf(other!.address);
    await approve(body.id);
    await fixture.waitForRefund(body.id, 'refunded', token);
    expect((await fixture.balanceOf(other!.address)) - before).toBe(PRICE);
  });

  it('lets a person look at what may have bought an answer before Redis lost data', async () => {
    const payment = await fixture.payRefused('older_than_ledger');
    expect((await preview(payment)).doubts).toEqual([expect.stringContaining('may have bought an answer')]);
    const { body } = await ask(payment);
    const waiting = await fixture.waitForApproval(body.id, token);
    expect(waiting.doubts).toHaveLength(1);
    const cancelled = await fixture.post(`/operator/jobs/${waiting.job}/cancel`, approver);
    expect(cancelled.body).toMatchObject({ state: 'CANCELLED' });
    await fixture.waitForRefund(body.id, 'failed', token);
    const given = await fixture.post(`/operator/refunds/${body.id}/give-up`, token);
    expect(given).toMatchObject({ status: 200, body: { state: 'given_up' } });
    expect(await preview(payment)).toMatchObject({ number: 2, left: String(PRICE) });
  });

  it('lets a person look at a large amount', async () => {
    const id = await fixture.pay(payer, 600_000n);
    await fixture.refuse(id, 'payment_too_old', 600_000n);
    const { body } = await ask(nameOfPayment(id));
    expect(body.doubts).toEqual([expect.stringContaining('REFUND_APPROVAL_ABOVE')]);
    await approve(body.id);
    await fixture.waitForRefund(body.id, 'refunded', token);
  });

  it('lets a person look at the part with which a payment has had a large amount paid back', async () => {
    // No other payer is refunded so much.
    const [, , , , , , , , other] = fixture.chain.accounts;
    const id = await fixture.pay(other!.address, 600_000n);
    await fixture.refuse(id, 'payment_too_old', 600_000n);
    const payment = nameOfPayment(id);
    const first = await ask(payment, { amount: '300000' });
    expect(first.body.doubts).toEqual([]);
    const second = await ask(payment, { amount: '300000', number: 2 });
    expect(second.body.doubts).toEqual([expect.stringContaining('REFUND_APPROVAL_ABOVE')]);
    await fixture.waitForRefund(first.body.id, 'refunded', token);
    await approve(second.body.id);
    await fixture.waitForRefund(second.body.id, 'refunded', token);
  });

  it('keeps to the caps, also for many small ones', async () => {
    const id = await fixture.pay(payer, 2_000_000n);
    await fixture.refuse(id, 'payment_too_old', 2_000_000n);
    const refused = await ask(nameOfPayment(id));
    expect(refused).toMatchObject({ status: 409, body: { reason: 'over_cap', cap: 'perPayerAndDay' } });
    expect((await ask(nameOfPayment(id), { amount: '1000' })).status).toBe(202);
  });

  it('refunds a payment that bought an answer only where that is meant', async () => {
    const id = await fixture.pay();
    await fixture.sell(id);
    await fixture.waitUntilBooked(nameOfPayment(id));
    const payment = nameOfPayment(id);
    expect(await preview(payment)).toMatchObject({ boughtAnswer: true, obstacles: [{ reason: 'answered' }] });
    expect(await ask(payment)).toMatchObject({ status: 409, body: { reason: 'answered' } });
    const { status, body } = await ask(payment, { answered: true });
    expect(status).toBe(202);
    expect(await fixture.waitForRefund(body.id, 'refunded', token)).toMatchObject({ route: '/api/weather' });
    expect(await fixture.ledger.readAnswer(id)).toBeNull();
  });

  it('refuses while a request holds the payment, and refunds it when that has ended', async () => {
    const id = await fixture.pay();
    await fixture.refuse(id);
    const lease = await fixture.claim(id);
    expect(await ask(nameOfPayment(id))).toMatchObject({ status: 409, body: { reason: 'ledger' } });
    await fixture.ledger.release(lease, { counted: true });
    expect((await ask(nameOfPayment(id))).status).toBe(202);
  });

  it('refuses what the chain does not show, and what the book does not know', async () => {
    const unknown = `tx:${fixture.chain.chainId}:0x${'9'.repeat(64)}:0`;
    expect(await ask(unknown)).toMatchObject({ status: 404, body: { code: 'book_payment_not_found' } });
    const txHash: Hex = `0x${'8'.repeat(64)}`;
    const id: PaymentId = { kind: 'transfer', chainId: fixture.chain.chainId, txHash, logIndex: 0 };
    await fixture.refuse(id);
    expect(await ask(nameOfPayment(id))).toMatchObject({ status: 409, body: { reason: 'not_on_chain' } });
    const other = await transferTokens(fixture.chain, { amountBaseUnits: PRICE, to: `0x${'77'.repeat(20)}` });
    const elsewhere = fixture.paymentOf(other);
    await fixture.refuse(elsewhere);
    expect(await ask(nameOfPayment(elsewhere))).toMatchObject({ status: 409, body: { reason: 'paid_nothing' } });
    const more = await fixture.pay();
    await fixture.refuse(more, 'payment_too_old', PRICE + 1n);
    expect(await ask(nameOfPayment(more))).toMatchObject({ status: 409, body: { reason: 'amount_differs' } });
  });

  it.each([
    [{ amount: '1.5' }],
    [{ amount: '0' }],
    [{ amount: 5 }],
    [{ number: 0 }],
    [{ recipient: '0x12' }],
    [{ reason: '' }],
    [{ reason: 'a\u0000b' }],
    [{ payment: '' }],
  ])('refuses the body %j', async (more) => {
    expect(await ask('tx:1:2:3', more)).toMatchObject({ status: 400, body: { code: 'request_invalid' } });
  });

  it('shows a refund that failed as such, and sends it again', async () => {
    const payment = await fixture.payRefused();
    const { address } = fixture.lane;
    const float = await fixture.balanceOf(address);
    await callRpc(fixture.chain.rpcUrl, 'anvil_impersonateAccount', [address]);
    // The wallet's tokens go elsewhere, and its nonce is adopted again, as after any transaction by hand.
    const [, , , safe] = fixture.chain.accounts;
    await transferTokens(fixture.chain, { from: address, to: safe!.address, amountBaseUnits: float });
    await adoptAgain();
    const { body } = await ask(payment);
    const failed = await fixture.waitForRefund(body.id, 'failed', token);
    expect(failed).toMatchObject({ attempt: 1, jobState: 'PLAN_FAILED', detail: expect.any(String) });
    const { troubles } = (await fixture.get<{ troubles: object[] }>('/operator/health', token)).body;
    expect(troubles).toContainEqual(
      expect.objectContaining({ mend: expect.stringContaining('tollgate refunds retry') }),
    );
    await transferTokens(fixture.chain, { from: safe!.address, to: address, amountBaseUnits: float });
    expect((await fixture.post(`/operator/refunds/${body.id}/retry`, token)).body).toMatchObject({ attempt: 2 });
    await fixture.waitForRefund(body.id, 'refunded', token);
    expect(await fixture.post(`/operator/refunds/${body.id}/retry`, token)).toMatchObject({ status: 409 });
    expect(await fixture.post(`/operator/refunds/${body.id}/give-up`, token)).toMatchObject({ status: 409 });
    // The job itself cannot be repeated beside the refund.
    const retried = await fixture.post(`/operator/jobs/${failed.job}/retry`, token);
    expect(retried).toMatchObject({ status: 409, body: { code: 'job_state' } });
  });

  it('has a job that a bookkeeper shows too which does not have the book', async () => {
    const { body } = await ask(await fixture.payRefused());
    const { job } = await fixture.waitForRefund(body.id, 'refunded', token);
    const { url } = await fixture.base.startBookkeeper(fixture.settings(LIMITS));
    const shown = await fetch(`${url}/operator/jobs/${job}`, { headers: { Authorization: `Bearer ${token}` } });
    expect(shown.status).toBe(200);
    expect(await shown.json()).not.toHaveProperty('doubts');
  });

  it('is named as it is by then where somebody retries it while it is given up', async () => {
    await fixture.base.endBookkeepers();
    const { app, url } = await fixture.base.startBookkeeper(fixture.settings(LIMITS));
    fixture.useBookkeeper(url);
    const { body } = await ask(await fixture.payRefused('older_than_ledger'));
    const { job } = await fixture.waitForApproval(body.id, token);
    await fixture.post(`/operator/jobs/${job}/cancel`, approver);
    const failed = await fixture.waitForRefund(body.id, 'failed', token);
    // The book is asked for the refund first, and for the retry next.
    const caps = { each: null, perPayerAndDay: null, perKeyAndDay: null, perDay: null };
    const [given] = await Promise.allSettled([
      app.get(RefundDesk).giveUp(failed.id),
      retryRefund(app.get(BookHolder).writer, failed, { keyId: 'another', caps }),
    ]);
    expect(given).toMatchObject({
      ...{ status: 'rejected', reason: { message: expect.stringMatching(/^The refund is (closed|sending)\. /) } },
    });
  });

  // Prevents: a request waits for the next timed reading of the outbox, as here for an hour.
  it('wakes the reader of the outbox, which it waits for', async () => {
    await fixture.base.endBookkeepers();
    const { app, url } = await fixture.base.startBookkeeper(fixture.settings(LIMITS));
    fixture.useBookkeeper(url);
    const payment = await fixture.payRefused();
    await waitForAnHour(app.get(BookkeeperConnections).outbox);
    const { body } = await ask(payment);
    expect(await fixture.waitUntilRead(body, token)).toMatchObject({ state: 'sending', job: expect.any(String) });
    await fixture.base.endBookkeepers();
    await startBookkeeper();
  });

  it('goes on with the others while one cannot', async () => {
    const first = await ask(await fixture.payRefused());
    await fixture.waitForRefund(first.body.id, 'refunded', token);
    await fixture.base.endBookkeepers();
    // The oldest of all, for something that is no payment.
    await fixture.base.change(
      `INSERT INTO refunds (id, payment, number, state, amount, chain_id, asset, recipient, answered, doubts, asked_by,
          arrived_in, takes, asked_at, changed_at, attempt)
        SELECT 'broken-1', 'nothing', 1, 'asked', 1, chain_id, asset, recipient, answered, doubts, asked_by,
          arrived_in, '[]', asked_at - interval '1 day', changed_at, 1 FROM refunds WHERE id = '${first.body.id}'`,
    );
    await startBookkeeper();
    const { body } = await ask(await fixture.payRefused());
    await fixture.waitForRefund(body.id, 'refunded', token);
    await fixture.base.endBookkeepers();
    await fixture.base.change(`DELETE FROM refunds WHERE id = 'broken-1'`);
    await startBookkeeper();
  });

  it('is a command, which says what it does', async () => {
    const payment = await fixture.payRefused();
    const folder = fixture.base.server.dir;
    const env = { OPERATOR_URL: fixture.url, OPERATOR_API_KEY: token, TOLLGATE_STATE_DIR: folder };
    const shown = await tollgate(['refund', payment, '--preview'], env);
    expect(shown).toMatch(new RegExp(`^ARRIVED +0.01\\n[^]*goes to +${payer} \\(account\\)`));
    await expect(tollgate(['refund', payment, '--amount', '0.0000001'], env)).rejects.toThrow(/at most 6 decimals/);
    await expect(tollgate(['refund', payment, '--amount', '1'], env)).rejects.toThrow(/Only 0.01 is left/);
    const made = await tollgate(['refund', payment, '--amount', '0.004', '--reason', 'late'], env);
    const [, id = ''] = /^REFUND +(r\S+)\n/.exec(made) ?? [];
    expect(made).toMatch(/base units +4000\n/);
    await fixture.waitForRefund(id, 'refunded', token);
    expect(await tollgate(['refunds', 'show', id], env)).toMatch(/state +refunded\n/);
    const list = await tollgate(['refunds', 'list', '--payment', payment], env);
    expect(list).toMatch(/^REFUND +STATE +AMOUNT +SYMBOL +BASE UNITS +ROUTE +PAYER +PAYMENT\n/);
    // Of a payment that was refused, the book knows no route.
    expect(list).toMatch(new RegExp(`\\n${id} +refunded +0.004 +USDC +4000 +- +${payer} +${payment}$`));
    await expect(tollgate(['refunds', 'retry', id], env)).rejects.toThrow(/Only a refund that has failed/);
    await expect(tollgate(['refunds', 'give-up', id], env)).rejects.toThrow(/Only a refund that has failed/);
  });

  it('lists refunds, page by page', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `/operator/refunds?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { body }: { body: { refunds: OperatorRefund[]; cursor: string | null } } = await fixture.get(path, token);
      seen.push(...body.refunds.map(({ id }) => id));
      ({ cursor } = body);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThan(5);
    expect((await fixture.get('/operator/refunds?cursor=nothing', token)).status).toBe(400);
    expect((await fixture.get('/operator/refunds/r1', token)).status).toBe(404);
  });

  it('shows a refund whose job cannot be read as such, and the others as they are', async () => {
    const list = async () => {
      const path = '/operator/refunds?state=refunded&limit=3';
      return (await fixture.get<{ refunds: OperatorRefund[] }>(path, token)).body.refunds;
    };
    const before = await list();
    const mend = await spoilJob(fixture.base.redis, fixture.lane, before[1]!.job!);
    const unreadable = { ...before[1], jobState: 'unreadable', planDigest: null };
    expect(await list()).toEqual(before.map((refund, index) => (index === 1 ? unreadable : refund)));
    expect((await fixture.get(`/operator/refunds/${before[1]!.id}`, token)).body).toEqual(unreadable);
    await mend();
    expect(await list()).toEqual(before);
  });

  /** Has every read that waits for events wait for an hour, and resolves when the first one does. */
  function waitForAnHour(outbox: RedisClient): Promise<void> {
    const read = outbox.xreadgroup.bind(outbox) as (...args: unknown[]) => Promise<unknown>;
    return new Promise((resolve) => {
      const readForAnHour = (...args: unknown[]): Promise<unknown> => {
        const block = args.indexOf('BLOCK') + 1;
        if (block > 0) resolve();
        return read(...(block > 0 ? args.with(block, 3_600_000) : args));
      };
      Object.assign(outbox, { xreadgroup: readForAnHour });
    });
  }

  async function adoptAgain(): Promise<void> {
    const { journal, lane } = fixture;
    await journal.pauseLane(lane, { code: 'TEST', message: 'A transaction by hand.', suggestion: 'Wait.' });
    await fixture.adopt();
    await journal.resumeLane(lane);
  }

  it('is refused while ASSET_DECIMALS is not what the token has, since no limit would hold', async () => {
    const payment = await fixture.payRefused();
    await fixture.base.endBookkeepers();
    await fixture.startBookkeeper({ ASSET_DECIMALS: '18' });
    expect(await ask(payment)).toMatchObject({ status: 409, body: { reason: 'decimals_differ' } });
    await fixture.base.endBookkeepers();
    await startBookkeeper();
  });
});
