import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Logger } from '@nestjs/common';
import { readRefundJob, WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId } from '@tollgate/journal';
import { Ledger, locatePayment, nameOfPayment, readPaymentName, type PaymentId } from '@tollgate/ledger';

import { createTestBook, type TestBook } from '../../../../libs/book/test/create-test-book.js';
import { hashOf } from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { tollgate } from '../../../../tools/cli/test/run-tollgate.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PRICE, RefundFixture, startRefundServers } from '../../test/refund-fixture.js';
import type { RefundPreview } from '../refunds/refund-previews.js';
import type { OperatorRefund } from './refund-desk.js';

/** Bought, served, lost and presented again; or asked for a refund, whose job or row was lost. */
describe('a payment and its refund, after Redis or the book lost data', () => {
  let servers: Awaited<ReturnType<typeof startRefundServers>>;
  let fixture: RefundFixture;
  const restored: TestBook[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    servers = await startRefundServers();
  });

  beforeEach(async () => {
    fixture = await RefundFixture.start(servers);
  }, 120_000);

  afterEach(async () => {
    await fixture.stop();
    for (const book of restored.splice(0)) await book.remove();
  });

  afterAll(() => servers.stop());

  const publish = (lane = fixture.lane) => new WalletDirectory(fixture.base.redis).publish({ name: 'refunds', lane });
  const createToken = (): Promise<string> =>
    fixture.base.createToken('operator:read', 'operator:refund', 'operator:approve');
  const MAYBE_SENT = [expect.stringContaining('A job of refund 1 may have been sent')];

  /** Without a worker, so that its job is not sent. */
  async function ask(payment: string, token: string, more: object = {}): Promise<OperatorRefund> {
    const { status, body } = await fixture.post<OperatorRefund>('/operator/refunds', token, { payment, ...more });
    expect([status, body]).toMatchObject([202, { payment }]);
    return fixture.waitUntilRead(body, token);
  }

  /** A copy for `restoreBook`. */
  async function copyBook(token: string): Promise<string> {
    const file = join(fixture.base.server.dir, 'copy.book');
    const headers = { Authorization: `Bearer ${token}` };
    writeFileSync(file, await (await fetch(`${fixture.url}/operator/backup`, { headers })).text());
    return file;
  }

  async function restoreBook(file: string): Promise<void> {
    await fixture.base.endBookkeepers();
    const book = await createTestBook();
    restored.push(book);
    await fixture.startBookkeeper({ ...book.env, BOOK_RESTORE: file });
  }

  async function isBooked(payment: string, token: string): Promise<boolean> {
    const { body } = await fixture.get<{ state: string; refunded: string }>(`/operator/payments/${payment}`, token);
    return body.state === 'refunded' && body.refunded === String(PRICE);
  }

  async function waitUntilBlockIsOver(): Promise<void> {
    const { timestamp } = (await callRpc(fixture.chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as {
      timestamp: string;
    };
    await waitFor('the second of its block is over', () =>
      Promise.resolve(Date.now() > (Number(timestamp) + 1) * 1000),
    );
  }

  /** Everything in Redis is gone; verifiers open the ledger anew, and the payer presents the payment again. */
  async function loseAndPresent(id: PaymentId): Promise<void> {
    await fixture.base.redis.flushall();
    await publish();
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

  it('is not refunded without a person, where the database refused the event of the answer', async () => {
    await fixture.startBookkeeper();
    let token = await createToken();
    const id = await fixture.pay();
    // No text of PostgreSQL can have a zero.
    await fixture.sell(id, 'request\0');
    await waitFor('the event is set aside', async () => {
      const { body } = await fixture.get<{ troubles: unknown }>('/operator/health', token);
      return JSON.stringify(body).includes(nameOfPayment(id));
    });
    // By then the ledger has forgotten the payment, and the payer presents it again.
    await fixture.base.redis.flushall();
    await publish();
    await fixture.ledger.open({ headBlockNumber: 0 });
    await fixture.refuse(id);
    token = await createToken();
    const payment = nameOfPayment(id);
    const { body } = await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`, token);
    expect(body).toMatchObject({ boughtAnswer: false, obstacles: [] });
    expect(body.doubts).toContainEqual(expect.stringContaining('could not book'));
  }, 120_000);

  it('is not refunded without a person, where Redis lost its last second and nobody has noticed', async () => {
    await fixture.startBookkeeper();
    await publish();
    const payment = await fixture.payRefused();
    const token = await createToken();
    const { redis, server } = fixture.base;
    await waitUntilBlockIsOver();
    // As of a Redis with `appendfsync everysec`.
    for (const birth of await redis.keys('tollgate:{pay-*}:birth')) await redis.hset(birth, 'durable', '0');
    await server.kill();
    await server.start();
    const { body } = await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`, token);
    expect(body.doubts).toEqual([]);
    const asked = await ask(payment, token);
    expect(asked).toMatchObject({ state: 'sending', doubts: [expect.stringContaining('may have bought an answer')] });
    expect(readRefundJob((await fixture.journal.readJob(asked.job!))!)).toMatchObject({ needsApproval: true });
  }, 120_000);

  it.each(['give-up', 'retry'])(
    'is paid back after %s by two people only, where its job was lost',
    async (decision) => {
      await fixture.startBookkeeper();
      await publish();
      const payment = await fixture.payRefused();
      const { id } = await ask(payment, await createToken());
      await fixture.base.redis.flushall();
      await publish();
      await fixture.adopt();
      const token = await createToken();
      const failed = await fixture.waitForRefund(id, 'failed', token);
      expect(failed).toMatchObject({ maybeSent: true, doubts: [], detail: expect.stringContaining('no longer has') });
      await fixture.post(`/operator/refunds/${id}/${decision}`, token);
      const preview = await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`, token);
      expect(preview.body.doubts).toEqual(expect.arrayContaining(MAYBE_SENT));
      const again = decision === 'retry' ? await ask(payment, token) : await ask(payment, token, { number: 2 });
      expect(again.doubts).toEqual(expect.arrayContaining(MAYBE_SENT));
    },
    120_000,
  );

  it('is not paid a second time, where Redis has lost that its job was sent, and an operator resumes it', async () => {
    await fixture.startBookkeeper();
    await publish();
    const payment = await fixture.payRefused();
    const token = await createToken();
    const { id, job: jobId } = await ask(payment, token);
    const failure = { code: 'JOURNAL_LOST_WRITES', message: 'In doubt.', suggestion: 'Look.' };
    const { token: lease } = (await fixture.journal.takeLease(fixture.lane, 'worker', 60_000))!;
    const stop = () => fixture.journal.needOperator({ jobId: jobId!, stepIndex: 0, token: lease, failure });
    const resume = () => fixture.post(`/operator/jobs/${jobId}/resume`, token);
    await stop();
    expect(await resume()).toMatchObject({ status: 200 });
    await stop();
    // Booked before the loss.
    const paid = { refund: id, transaction: hashOf(900), amount: String(PRICE), recipient: fixture.payer };
    await fixture.base.database.query('UPDATE refunds SET transaction = $2 WHERE id = $1', [id, paid.transaction]);
    await fixture.ledger.recordRefunded(readPaymentName(payment)!, paid);
    await waitFor('it is booked', async () => {
      return (await fixture.get<{ state: string }>(`/operator/payments/${payment}`, token)).body.state === 'refunded';
    });
    expect(await resume()).toMatchObject({
      ...{ status: 409, body: { state: 'NEEDS_OPERATOR', detail: expect.stringContaining(hashOf(900)) } },
    });
    const approval = { plan: 'ab'.repeat(32) };
    expect(await fixture.post(`/operator/jobs/${jobId}/approve`, await createToken(), approval)).toMatchObject({
      ...{ status: 409, body: { detail: expect.stringContaining(hashOf(900)) } },
    });
  }, 120_000);

  // Prevents: what another job or refund pays is paid by this job too.
  it.each([
    ['was given up', "state = 'given_up'"],
    ['has a later attempt', "state = 'failed', attempt = 2"],
  ])(
    'is not paid by a lost job that is there again, where it %s meanwhile',
    async (detail, decided) => {
      await fixture.startBookkeeper();
      await publish();
      const [token, other] = [await createToken(), await createToken()];
      const { id, job: jobId } = await ask(await fixture.payRefused(), token);
      const failure = { code: 'JOURNAL_LOST_WRITES', message: 'In doubt.', suggestion: 'Look.' };
      const { token: lease } = (await fixture.journal.takeLease(fixture.lane, 'worker', 60_000))!;
      await fixture.journal.needOperator({ jobId: jobId!, stepIndex: 0, token: lease, failure });
      // As where it was decided while the journal did not have the job.
      await fixture.base.endBookkeepers();
      await fixture.base.change(`UPDATE refunds SET ${decided} WHERE id = '${id}'`);
      await fixture.startBookkeeper();
      const refusal = { status: 409, body: { detail: expect.stringContaining(`The refund ${detail}`) } };
      const decide = (decision: string, body: object) =>
        fixture.post(`/operator/jobs/${jobId}/${decision}`, other, body);
      expect(await decide('resume', {})).toMatchObject(refusal);
      expect(await decide('approve', { plan: 'ab'.repeat(32) })).toMatchObject(refusal);
    },
    120_000,
  );

  // Prevents: both attempts pay.
  it('is not paid by a later attempt while the job of an earlier one, which is there again, may pay it', async () => {
    await fixture.startBookkeeper();
    await publish();
    const [token, other] = [await createToken(), await createToken()];
    const { id, job: first } = await ask(await fixture.payRefused(), token);
    await fixture.base.endBookkeepers();
    const putBack = await fixture.loseJob(first!);
    await fixture.startBookkeeper();
    await fixture.waitForRefund(id, 'failed', token);
    await fixture.post(`/operator/refunds/${id}/retry`, token);
    const { attempt, job: second } = await fixture.waitForRefund(id, 'sending', token);
    expect(attempt).toBe(2);
    await putBack();
    const decide = (decision: string, body: object) =>
      fixture.post(`/operator/jobs/${second}/${decision}`, other, body);
    const refusal = { status: 409, body: { detail: expect.stringContaining(first!) } };
    expect(await decide('resume', {})).toMatchObject(refusal);
    expect(await decide('approve', { plan: 'ab'.repeat(32) })).toMatchObject(refusal);
    expect(await fixture.journal.cancel(first!)).toMatchObject({ outcome: 'done' });
    expect(await decide('resume', {})).toMatchObject({ status: 200 });
  }, 120_000);

  it('is paid back by two people only, where an operator has abandoned its job after a loss', async () => {
    await fixture.startBookkeeper();
    await publish();
    const payment = await fixture.payRefused();
    const token = await createToken();
    const { id, job } = await ask(payment, token);
    const failure = { code: 'JOURNAL_LOST_WRITES', message: 'In doubt.', suggestion: 'Look.' };
    const { token: lease } = (await fixture.journal.takeLease(fixture.lane, 'worker', 60_000))!;
    await fixture.journal.needOperator({ jobId: job!, stepIndex: 0, token: lease, failure });
    const abandoned = { code: 'JOB_ABANDONED', message: 'Abandoned.', suggestion: 'Look.' };
    await fixture.journal.abandonJob({ jobId: job!, minedNonce: 0, failure: abandoned });
    const failed = await fixture.waitForRefund(id, 'failed', token);
    expect(failed).toMatchObject({ maybeSent: true, detail: expect.stringContaining('abandoned') });
    const { body } = await fixture.post<OperatorRefund>(`/operator/refunds/${id}/retry`, token);
    expect(body).toMatchObject({ attempt: 2, doubts: MAYBE_SENT });
  }, 120_000);

  it.each(['sending', 'failed'])(
    'is refunded where the book has its transfer, and the journal lost its job: %s',
    async (state) => {
      await fixture.startBookkeeper();
      await fixture.startWorker();
      const payment = await fixture.payRefused();
      const { address } = fixture.chain.accounts[0]!;
      const before = await fixture.balanceOf(address);
      const { id } = await ask(payment, await createToken());
      const { transaction } = await fixture.waitForRefund(id, 'refunded', await createToken());
      await waitFor('it is booked', async () => {
        const { body } = await fixture.get<{ state: string }>(`/operator/payments/${payment}`, await createToken());
        return body.state === 'refunded';
      });
      // As a bookkeeper leaves it that is killed before it notes the end, or that has not found the job afterwards.
      await fixture.base.endBookkeepers();
      await fixture.base.change(`UPDATE refunds SET state = '${state}', transaction = NULL WHERE id = '${id}'`);
      await fixture.base.redis.flushall();
      await fixture.startBookkeeper();
      const token = await createToken();
      if (state === 'failed') await fixture.post(`/operator/refunds/${id}/retry`, token);
      expect(await fixture.waitForRefund(id, 'refunded', token)).toMatchObject({ transaction, attempt: 1 });
      expect((await fixture.balanceOf(address)) - before).toBe(PRICE);
    },
    120_000,
  );

  it.each(['retry', 'give-up', 'paid'])(
    'is booked where its job, which was lost, is there again, and a person decides %s',
    async (decision) => {
      await fixture.startBookkeeper();
      await fixture.startWorker();
      const payment = await fixture.payRefused();
      const token = await createToken();
      const before = await fixture.balanceOf(fixture.payer);
      const { id, job } = await ask(payment, token);
      await fixture.base.endBookkeepers();
      await waitFor('its transaction is final', async () => {
        await fixture.wakeAll();
        return (await fixture.journal.readJob(job!))?.state === 'FINAL';
      });
      const putBack = await fixture.loseJob(job!);
      await fixture.startBookkeeper();
      await fixture.waitForRefund(id, 'failed', token);
      await putBack();
      const named = decision === 'paid' ? { transaction: hashOf(900) } : {};
      const { status, body } = await fixture.post<OperatorRefund>(`/operator/refunds/${id}/${decision}`, token, named);
      const { transaction } = await fixture.waitForRefund(id, 'refunded', token);
      if (decision === 'paid') {
        // Not by the transaction that was named.
        expect([status, body]).toMatchObject([409, { transaction, detail: expect.stringContaining(transaction!) }]);
      } else {
        expect(body).toMatchObject({ state: 'refunded', attempt: 1, job });
      }
      await waitFor('it is booked', () => isBooked(payment, token));
      expect((await fixture.balanceOf(fixture.payer)) - before).toBe(PRICE);
    },
    120_000,
  );

  it('is booked by the transaction that a person names, where its job is gone for good', async () => {
    const { redis, server } = fixture.base;
    const settings = { RECONCILE_CONFIRMATIONS: '1000' };
    await fixture.startBookkeeper(settings);
    await fixture.startWorker();
    const token = await createToken();
    const other = await ask(await fixture.payRefused(), token);
    const { transaction: another } = await fixture.waitForRefund(other.id, 'refunded', token);
    const id = await fixture.pay();
    await fixture.refuse(id);
    const payment = nameOfPayment(id);
    const before = await fixture.balanceOf(fixture.payer);
    const { id: refund, job } = await ask(payment, token);
    await fixture.base.endBookkeepers();
    await waitFor('its transaction is final', async () => {
      await fixture.wakeAll();
      return (await fixture.journal.readJob(job!))?.state === 'FINAL';
    });
    const { steps } = (await fixture.journal.readJob(job!))!;
    const transaction = steps.at(-1)!.mined!.hash;
    await redis.del(...(await redis.keys(`tollgate:{*}:job:${job}*`)));
    await fixture.startBookkeeper(settings);
    await fixture.waitForRefund(refund, 'failed', token);
    const name = (hash: string) => fixture.nameTransaction(refund, hash, token);
    const refusal = (detail: string) => ({
      ...{ status: 409, body: { reason: 'transaction', detail: expect.stringContaining(detail) } },
    });
    expect(await name('0x12')).toMatchObject({ status: 400 });
    expect(await name(hashOf(900))).toMatchObject(refusal('does not show'));
    expect(await name(id.txHash)).toMatchObject(refusal('no transfer of the refund'));
    expect(await name(transaction)).toMatchObject(refusal('not final yet'));
    await callRpc(fixture.chain.rpcUrl, 'anvil_mine', ['0x3e8']);
    expect(await name(another!)).toMatchObject(refusal(`booked already, for ${other.id}`));
    const env = { OPERATOR_URL: fixture.url, OPERATOR_API_KEY: token, TOLLGATE_STATE_DIR: server.dir };
    const nameByCommand = () => tollgate(['refunds', 'paid', refund, transaction], env);
    await waitFor('it is booked by the command', () =>
      nameByCommand().then(
        (shown) => /state +refunded\n/.test(shown),
        (error: Error) => {
          if (error.message.includes('The book has not read all events yet')) return false;
          throw error;
        },
      ),
    );
    expect(await nameByCommand()).toMatch(/state +refunded\n/);
    expect(await name(another!)).toMatchObject({ status: 409, body: { reason: 'state', transaction } });
    await waitFor('it is booked', () => isBooked(payment, token));
    expect((await fixture.balanceOf(fixture.payer)) - before).toBe(PRICE);
  }, 120_000);

  it('is the same refund in a book that was restored from a copy of before it, and is booked once', async () => {
    await fixture.startBookkeeper();
    await fixture.startWorker();
    const token = await createToken();
    const payment = await fixture.payRefused();
    const file = await copyBook(token);
    const { address } = fixture.chain.accounts[0]!;
    const before = await fixture.balanceOf(address);
    const { id } = await ask(payment, token);
    const { transaction } = await fixture.waitForRefund(id, 'refunded', token);
    await waitFor('it is booked', () => isBooked(payment, token));

    await restoreBook(file);
    expect(await isBooked(payment, token)).toBe(false);
    expect(await ask(payment, token)).toMatchObject({ id });
    expect(await fixture.waitForRefund(id, 'refunded', token)).toMatchObject({ transaction, attempt: 1 });
    await waitFor('it is booked again', () => isBooked(payment, token));
    expect((await fixture.balanceOf(address)) - before).toBe(PRICE);
  }, 120_000);

  describe('of an answer, in a book that was restored from a copy of before the money was paid back', () => {
    let payment: string;
    let id: string;
    let token: string;
    let file: string;
    let before: bigint;
    const decide = async (decision: 'retry' | 'give-up') => {
      const { body } = await fixture.post<OperatorRefund>(`/operator/refunds/${id}/${decision}`, token);
      return fixture.waitUntilRead(body, token);
    };
    const askForSecond = () => ask(payment, token, { answered: true, number: 2 });
    const LOST = (number: number) => ({
      ...{ state: 'failed', maybeSent: true, detail: expect.stringContaining(`refund ${number} as paid`) },
    });

    /** The copy has its first refund as failed. */
    beforeEach(async () => {
      await fixture.startBookkeeper();
      await publish();
      const sold = await fixture.pay();
      await fixture.sell(sold);
      payment = nameOfPayment(sold);
      await fixture.waitUntilBooked(payment);
      token = await createToken();
      const first = await ask(payment, token, { answered: true });
      id = first.id;
      expect((await fixture.post(`/operator/jobs/${first.job}/cancel`, token)).status).toBe(200);
      await fixture.waitForRefund(id, 'failed', token);
      file = await copyBook(token);
      await fixture.startWorker();
      before = await fixture.balanceOf(fixture.payer);
    }, 120_000);

    const paidBack = async (): Promise<bigint> => (await fixture.balanceOf(fixture.payer)) - before;

    async function waitUntilPaid(paid: string): Promise<void> {
      await fixture.waitForRefund(paid, 'refunded', token);
      await waitFor('it is booked', () => isBooked(payment, token));
      await waitUntilBlockIsOver();
    }

    it('is not paid a second time by a retry, and is booked where the refund that paid it is asked for', async () => {
      await decide('give-up');
      const { id: second } = await askForSecond();
      await waitUntilPaid(second);
      await restoreBook(file);
      const { body } = await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`, token);
      expect(body.doubts).toEqual([expect.stringContaining('may have been paid back already')]);
      expect(await decide('retry')).toMatchObject({ ...LOST(2), id, attempt: 2 });
      await decide('give-up');
      expect(await askForSecond()).toMatchObject({ id: second });
      await waitUntilPaid(second);
      expect(await paidBack()).toBe(PRICE);
    }, 120_000);

    it('is not paid a second time as another refund, where a later attempt has paid it', async () => {
      await decide('retry');
      await waitUntilPaid(id);
      await restoreBook(file);
      await decide('give-up');
      expect(await askForSecond()).toMatchObject(LOST(1));
      expect(await paidBack()).toBe(PRICE);
    }, 120_000);

    it('is not paid a second time by the same attempt, where the journal has forgotten its job', async () => {
      const { job } = await decide('retry');
      await waitUntilPaid(id);
      const { redis } = fixture.base;
      for (const key of await redis.keys(`tollgate:{*}:job:${job}*`)) await redis.del(key);
      for (const key of await redis.keys('tollgate:{*}:idempotency')) await redis.del(key);
      await restoreBook(file);
      expect(await decide('retry')).toMatchObject({ ...LOST(1), attempt: 2 });
      expect(await paidBack()).toBe(PRICE);
    }, 120_000);
  });

  it.each(['asked', 'closed'])(
    'is not paid back without a person where Redis was lost as well, and the copy of the book has it as %s',
    async (state) => {
      await fixture.startBookkeeper();
      const sold = await fixture.pay();
      await fixture.sell(sold);
      const payment = nameOfPayment(sold);
      await fixture.waitUntilBooked(payment);
      // Not adopted, so that no job is accepted.
      await fixture.base.redis.flushall();
      await publish();
      const token = await createToken();
      const { id, job } = await ask(payment, token, { answered: true });
      await fixture.waitForRefund(id, 'closed', token);
      await fixture.base.endBookkeepers();
      await fixture.base.change(`UPDATE refunds SET state = '${state}', job = ${state === 'asked' ? 'NULL' : 'job'}`);
      await new WalletDirectory(fixture.base.redis).remove('refunds');
      await fixture.startBookkeeper();
      const file = await copyBook(token);
      await waitUntilBlockIsOver();
      // Else it sends the refund as soon as its wallet is adopted.
      await fixture.base.endBookkeepers();
      await publish();
      await fixture.adopt();
      await restoreBook(file);
      expect(await fixture.waitForRefund(id, 'sending', token)).toMatchObject({
        ...{ job, doubts: [expect.stringContaining('may have been paid back already')] },
      });
      expect(readRefundJob((await fixture.journal.readJob(job!))!)).toMatchObject({ needsApproval: true });
    },
    120_000,
  );

  describe('whose wallet becomes another account before the bookkeeper knows that its job was accepted', () => {
    let id: string;
    let token: string;
    let first: string;

    beforeEach(async () => {
      await fixture.startBookkeeper();
      await publish();
      token = await createToken();
      const { id: asked, job } = await ask(await fixture.payRefused(), token);
      [id, first] = [asked, job!];
      await fixture.base.endBookkeepers();
      await fixture.base.change(`UPDATE refunds SET state = 'closed' WHERE id = '${id}'`);
      const lane = createLaneId(fixture.chain.chainId, fixture.chain.agentWallets[1]!.address);
      await fixture.journal.adopt(lane, { pendingNonce: 0 });
      await publish(lane);
    }, 120_000);

    it('goes on with that job', async () => {
      await fixture.startBookkeeper();
      expect(await fixture.waitForRefund(id, 'sending', token)).toMatchObject({ job: first });
    });

    it('needs a person where that job is no longer stored', async () => {
      await fixture.base.change(`UPDATE refunds SET job = '${first.slice(0, -24)}${'0'.repeat(24)}'`);
      await fixture.startBookkeeper();
      const failed = await fixture.waitForRefund(id, 'failed', token);
      expect(failed).toMatchObject({ maybeSent: true, detail: expect.stringContaining('another account') });
    });
  });

  it('is not sent where the journal may have forgotten its job, however often it has waited since', async () => {
    await fixture.startBookkeeper();
    const token = await createToken();
    const payment = await fixture.payRefused();
    await publish();
    const { id } = await ask(payment, token);
    await fixture.base.endBookkeepers();
    // As in a book that was restored, when the journal has deleted the job.
    await fixture.base.change(`UPDATE refunds SET state = 'asked', job = NULL WHERE id = '${id}'`);
    const { entry, slot } = locatePayment(readPaymentName(payment)!);
    const [key] = await fixture.base.redis.keys(`tollgate:{pay-*}:${entry}`);
    await fixture.base.redis.hset(key!, `${slot}:closed:${id}`, String(Date.now() - 4 * 86_400_000));
    for (const stored of await fixture.base.redis.keys('tollgate:{*}:idempotency')) {
      await fixture.base.redis.del(stored);
    }
    await fixture.startBookkeeper();
    expect(await fixture.waitForRefund(id, 'failed', token)).toMatchObject({ maybeSent: true });
  }, 120_000);
});
