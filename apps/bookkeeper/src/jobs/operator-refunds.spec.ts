import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Logger } from '@nestjs/common';
import { planPermitTransfer } from '@tollgate/chain';
import { nameOfPayment, readPaymentName, signedPaymentId, type PaymentId } from '@tollgate/ledger';
import type { OperatorRefund } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';
import type { RedisClient } from '@tollgate/redis';
import type { RefundPreview } from '@tollgate/refunds';

import { createTestBook, type TestBook } from '../../../../libs/book/test/create-test-book.js';
import { hashOf } from '../../../../libs/book/test/sample-events.js';
import { spoilJob } from '../../../../libs/journal/test/sample-jobs.js';
import { approvePermit2, signPermit } from '../../../../test/harness/chain/sign-permit.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { tollgate } from '../../../../tools/cli/test/run-tollgate.js';
import { sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PRICE, RefundFixture } from '../../test/refund-fixture.js';
import { BookkeeperConnections } from '../drain/connections.js';

const LIMITS = { REFUND_MOST_PER_PAYER: '2', REFUND_APPROVAL_ABOVE: '0.5', RECONCILE_CONFIRMATIONS: '1000' };

const lower = (address: Hex): Hex => address.toLowerCase() as Hex;

/** The whole way, with real servers. The rules are in `libs/refunds`, and tested there. */
describe('refunds', () => {
  let fixture: RefundFixture;
  let token: string;
  let approver: string;
  let payer: Hex;
  let restored: TestBook | undefined;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await RefundFixture.start();
    payer = lower(fixture.chain.accounts[0]!.address);
    token = await fixture.base.createToken('operator:read', 'operator:refund', 'operator:approve');
    approver = await fixture.base.createToken('operator:read', 'operator:approve');
    await startBookkeeper();
    await fixture.startWorker();
  }, 120_000);

  afterAll(async () => {
    await fixture.stop();
    await restored?.remove();
  });

  const startBookkeeper = (): Promise<void> => fixture.startBookkeeper(LIMITS);
  const preview = async (payment: string): Promise<RefundPreview> =>
    (await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`, token)).body;
  const isBooked = async (payment: string): Promise<boolean> => {
    const { body } = await fixture.get<{ state: string; refunded: string }>(`/operator/payments/${payment}`, token);
    return body.state === 'refunded' && body.refunded === String(PRICE);
  };
  const ask = (payment: string, more: object = {}) =>
    fixture.post<OperatorRefund & { code?: string; reason?: string }>('/operator/refunds', token, { payment, ...more });

  it('closes the permit that caused a transfer too, so that it buys nothing afterwards', async () => {
    const [, , , , , , , owner] = fixture.chain.accounts;
    const { chainId, rpcUrl } = fixture.chain;
    const asset = lower(fixture.chain.asset);
    await approvePermit2(fixture.chain, { owner: owner!.address });
    const permit = await signPermit(fixture.chain, owner!, { amountBaseUnits: PRICE });
    // Sent by its payer, and in the book under the name of the transaction.
    const from = owner!.address;
    const txHash = await sendTransaction(fixture.chain, { from, ...planPermitTransfer(permit, PRICE) });
    const receipt = await callRpc(rpcUrl, 'eth_getTransactionReceipt', [txHash]);
    const { logs } = receipt as { logs: { address: Hex; topics: Hex[] }[] };
    const logIndex = logs.findIndex(({ address, topics }) => lower(address) === asset && topics.length === 3);
    const id: PaymentId = { kind: 'transfer', chainId, txHash, logIndex };
    const claim = signedPaymentId({ chainId, asset }, permit);
    await fixture.refuse(id);
    const payment = nameOfPayment(id);
    expect(await preview(payment)).toMatchObject({ permit: nameOfPayment(claim), doubts: [], obstacles: [] });
    const lease = await fixture.claim(claim);
    expect(await ask(payment)).toMatchObject({ status: 409, body: { reason: 'ledger' } });
    await fixture.ledger.release(lease, { counted: true });
    const { body } = await ask(payment);
    expect(await fixture.ledger.claim(fixture.claimRequest(claim, 1_000_000))).toMatchObject({
      outcome: 'refused',
      failure: 'payment_refunded',
    });
    await fixture.waitForRefund(body.id, 'refunded', token);
    // The book has the money once, under the name of the transfer.
    expect((await fixture.get(`/operator/payments/${nameOfPayment(claim)}`, token)).status).toBe(404);
  });

  it('refunds a payment that bought an answer only where that is meant', async () => {
    const id = await fixture.pay();
    await fixture.sell(id);
    const payment = nameOfPayment(id);
    await fixture.waitUntilBooked(payment);
    expect(await ask(payment)).toMatchObject({ status: 409, body: { reason: 'answered' } });
    const { body } = await ask(payment, { answered: true });
    expect(await fixture.waitForRefund(body.id, 'refunded', token)).toMatchObject({ route: '/api/weather' });
    expect(await fixture.ledger.readAnswer(id)).toBeNull();
  });

  it('keeps to the limits that are set, and has a large amount approved by a key that did not ask', async () => {
    const pay = async (units: bigint): Promise<string> => {
      const id = await fixture.pay(payer, units);
      await fixture.refuse(id, units);
      return nameOfPayment(id);
    };
    const over = await ask(await pay(2_000_000n));
    expect(over).toMatchObject({ status: 409, body: { reason: 'over_cap', cap: 'perPayerAndDay' } });
    const { body } = await ask(await pay(600_000n));
    expect(body.doubts).toEqual([expect.stringContaining('REFUND_APPROVAL_ABOVE')]);
    const { job, planDigest } = await fixture.waitForApproval(body.id, token);
    const approve = (key: string) => fixture.post(`/operator/jobs/${job}/approve`, key, { plan: planDigest });
    expect(await approve(token)).toMatchObject({ status: 403, body: { code: 'own_job' } });
    expect((await approve(approver)).status).toBe(200);
    await fixture.waitForRefund(body.id, 'refunded', token);
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

  it('has a job that a bookkeeper shows too which does not have the book', async () => {
    const { body } = await ask(await fixture.payRefused());
    const { job } = await fixture.waitForRefund(body.id, 'refunded', token);
    const { url } = await fixture.base.startBookkeeper(fixture.settings(LIMITS));
    const shown = await fetch(`${url}/operator/jobs/${job}`, { headers: { Authorization: `Bearer ${token}` } });
    expect(shown.status).toBe(200);
    expect(await shown.json()).not.toHaveProperty('doubts');
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

  it('pays a refused payment back to the payer that the chain shows, by a command that says what it does', async () => {
    const payment = await fixture.payRefused();
    const before = await fixture.balanceOf(payer);
    const env = { OPERATOR_URL: fixture.url, OPERATOR_API_KEY: token, TOLLGATE_STATE_DIR: fixture.base.server.dir };
    const shown = await tollgate(['refund', payment, '--preview'], env);
    expect(shown).toMatch(new RegExp(`^ARRIVED +0.01\\n[^]*goes to +${payer} \\(account\\)`));
    await expect(tollgate(['refund', payment, '--amount', '0.0000001'], env)).rejects.toThrow(/at most 6 decimals/);
    await expect(tollgate(['refund', payment, '--amount', '1'], env)).rejects.toThrow(/Only 0.01 is left/);
    const made = await tollgate(['refund', payment, '--reason', 'late'], env);
    const [, id = ''] = /^REFUND +(r\S+)\n/.exec(made) ?? [];
    expect(made).toMatch(/base units +10000\n/);
    expect((await fixture.waitForRefund(id, 'refunded', token)).transaction).toMatch(/^0x[0-9a-f]{64}$/);
    await waitFor('it is booked', () => isBooked(payment));
    expect(await tollgate(['refunds', 'show', id], env)).toMatch(/state +refunded\n/);
    const list = await tollgate(['refunds', 'list', '--payment', payment], env);
    expect(list).toMatch(/^REFUND +STATE +AMOUNT +SYMBOL +BASE UNITS +ROUTE +PAYER +PAYMENT\n/);
    // Of a payment that was refused, the book knows no route.
    expect(list).toMatch(new RegExp(`\\n${id} +refunded +0.01 +USDC +10000 +- +${payer} +${payment}$`));
    for (const decision of ['retry', 'give-up'])
      await expect(tollgate(['refunds', decision, id], env)).rejects.toThrow(/Only a refund that has failed/);
    // The same command again is the same refund, and nothing is left for another.
    expect(await tollgate(['refund', payment], env)).toMatch(new RegExp(`^REFUND +${id}\\n`));
    expect(await ask(payment, { number: 2 })).toMatchObject({ status: 409, body: { reason: 'nothing_left' } });
    expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
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

  it('says what it does not know', async () => {
    const unknown = { payment: `tx:${fixture.chain.chainId}:0x${'9'.repeat(64)}:0` };
    const notFound = { status: 404, body: { code: 'book_payment_not_found' } };
    expect(await fixture.post('/operator/refunds', token, unknown)).toMatchObject(notFound);
    expect(await fixture.get(`/operator/payments/${unknown.payment}/refund`, token)).toMatchObject(notFound);
    const noRefund = { status: 404, body: { code: 'refund_not_found' } };
    expect(await fixture.get('/operator/refunds/r1', token)).toMatchObject(noRefund);
    expect((await fixture.get('/operator/refunds?cursor=nothing', token)).status).toBe(400);
    const named = await fixture.post('/operator/refunds/r1/paid', token, { transaction: '0x12' });
    expect(named.status).toBe(400);
  });

  describe('after a loss of data', () => {
    it('finds a refund again in a book that was restored from a copy of before it, and books it once', async () => {
      const payment = await fixture.payRefused();
      const file = join(fixture.base.server.dir, 'copy.book');
      const headers = { Authorization: `Bearer ${token}` };
      writeFileSync(file, await (await fetch(`${fixture.url}/operator/backup`, { headers })).text());
      const before = await fixture.balanceOf(payer);
      const { id } = (await ask(payment)).body;
      const { transaction } = await fixture.waitForRefund(id, 'refunded', token);
      await waitFor('it is booked', () => isBooked(payment));
      await fixture.base.endBookkeepers();
      restored = await createTestBook();
      await fixture.startBookkeeper({ ...LIMITS, ...restored.env, BOOK_RESTORE: file });
      expect(await isBooked(payment)).toBe(false);
      expect(await ask(payment)).toMatchObject({ status: 202, body: { id } });
      expect(await fixture.waitForRefund(id, 'refunded', token)).toMatchObject({ transaction, attempt: 1 });
      await waitFor('it is booked again', () => isBooked(payment));
      expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
    });

    it('does not resume or approve the job of a refund that another transaction has paid', async () => {
      await fixture.stopWorker();
      const payment = await fixture.payRefused();
      const asked = (await ask(payment)).body;
      const { id, job } = await fixture.waitUntilRead(asked, token);
      const failure = { code: 'JOURNAL_LOST_WRITES', message: 'In doubt.', suggestion: 'Look.' };
      const lease = (await fixture.journal.takeLease(fixture.lane, 'worker', 60_000))!;
      const stop = () => fixture.journal.needOperator({ jobId: job!, stepIndex: 0, token: lease.token, failure });
      const resume = () => fixture.post(`/operator/jobs/${job}/resume`, approver);
      await stop();
      expect(await resume()).toMatchObject({ status: 200 });
      await stop();
      const paid = { refund: id, transaction: hashOf(900), amount: String(PRICE), recipient: fixture.payer };
      await fixture.base.database.query('UPDATE refunds SET transaction = $2 WHERE id = $1', [id, paid.transaction]);
      await fixture.ledger.recordRefunded(readPaymentName(payment)!, paid);
      await waitFor('it is booked', () => isBooked(payment));
      const refused = { status: 409, body: { state: 'NEEDS_OPERATOR', detail: expect.stringContaining(hashOf(900)) } };
      expect(await resume()).toMatchObject(refused);
      const approved = await fixture.post(`/operator/jobs/${job}/approve`, approver, { plan: 'ab'.repeat(32) });
      expect(approved).toMatchObject(refused);
      await fixture.journal.releaseLease(lease);
      await fixture.journal.cancel(job!);
    });

    it('books a refund by the transaction that a person names, where its job is gone for good', async () => {
      const payment = await fixture.payRefused();
      const { id, job } = await fixture.waitUntilRead((await ask(payment)).body, token);
      const transaction = await transferTokens(fixture.chain, {
        from: fixture.lane.address,
        to: fixture.payer,
        amountBaseUnits: PRICE,
      });
      expect(await fixture.journal.cancel(job!)).toMatchObject({ outcome: 'done' });
      await fixture.base.redis.del(...(await fixture.base.redis.keys(`tollgate:{*}:job:${job}*`)));
      await fixture.waitForRefund(id, 'failed', token);
      const env = { OPERATOR_URL: fixture.url, OPERATOR_API_KEY: token, TOLLGATE_STATE_DIR: fixture.base.server.dir };
      const name = () => tollgate(['refunds', 'paid', id, transaction], env);
      await expect(name()).rejects.toThrow(/not final yet/);
      await callRpc(fixture.chain.rpcUrl, 'anvil_mine', ['0x3e8']);
      await waitFor('it is booked by the command', () =>
        name().then(
          (shown) => /state +refunded\n/.test(shown),
          (error: Error) => {
            if (error.message.includes('The book has not read all events yet')) return false;
            throw error;
          },
        ),
      );
      await waitFor('it is booked', () => isBooked(payment));
    });
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
});
