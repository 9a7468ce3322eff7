import type { ServerResponse } from 'node:http';

import type { JobRecord } from '@tollgate/journal';

import { startPaidServer, type Interference } from '../../../../packages/client/test/paid-server.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { PaymentFixture, readAnswer } from '../../test/payment-fixture.js';

const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Interference =>
  (response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };

/** A body that never ends, sent in parts. */
const endless =
  (part: string, everyMs: number, headers: Record<string, string> = {}): Interference =>
  (response) => {
    response.writeHead(200, headers);
    const timer = setInterval(() => response.write(part), everyMs);
    response.on('close', () => clearInterval(timer));
    return true;
  };

const SOON = { 'Retry-After': '0' };

describe('a payment that is mined', () => {
  let fixture: PaymentFixture;

  beforeAll(async () => {
    fixture = await PaymentFixture.start();
  });

  afterAll(() => fixture.stop());
  beforeEach(() => fixture.begin());
  afterEach(() => fixture.end());

  const submit = () => fixture.submit({ url: fixture.server.url });
  const pay = async (state: JobRecord['state']): Promise<JobRecord> => fixture.lane.waitForState(await submit(), state);

  /** Every request with a proof had the same proof and key, and one transfer was made. */
  const expectOnePayment = async (requests: number) => {
    const paid = fixture.server.paid();
    expect(paid).toHaveLength(requests);
    expect(
      new Set(paid.map(({ headers }) => `${headers['x-payment'] as string} ${headers['idempotency-key'] as string}`))
        .size,
    ).toBe(1);
    expect(await fixture.transfers()).toEqual([paid[0]!.proof!.payload.txHash]);
    expect(await fixture.lane.readMined()).toHaveLength(1);
  };

  const expectUnanswered = ({ state, failure, details }: JobRecord, message: RegExp) => {
    expect({ state, code: failure?.code }).toEqual({ state: 'NEEDS_OPERATOR', code: 'PAYMENT_NOT_ANSWERED' });
    expect(failure!.message).toMatch(message);
    expect(details).not.toHaveProperty('answer');
  };

  const broken: Interference = (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"conditions":');
    setImmediate(() => response.destroy());
    return true;
  };

  it.each<[string, Interference]>([
    ['is busy', answer(503, SOON)],
    ['already serves it to another request', answer(409, SOON)],
    ['does not see the receipt yet', answer(402, { ...SOON, 'X-Payment-Failure': 'receipt_missing' })],
    ['disconnects', broken],
    ['fails once', answer(500)],
  ])('is presented again with the same key when the server %s', async (_, interference) => {
    fixture.server.interfere.push(interference);
    fixture.startWorker();
    expect(readAnswer(await pay('FINAL')).body).toBe('{"conditions":"Clear","number":1}');
    await expectOnePayment(2);
  });

  it('is not repeated when the server asks for a higher price instead', async () => {
    fixture.server.interfere.push((response) => {
      fixture.server.challenge = { maxAmountRequired: '9000' };
      return answer(402, { 'X-Payment-Failure': 'amount_too_low' })(response, fixture.server.seen[0]!);
    });
    fixture.startWorker();
    expectUnanswered(
      await pay('NEEDS_OPERATOR'),
      /^The payment is mined, but the server does not accept it: amount_too_low\.$/,
    );
    await expectOnePayment(1);
  });

  it('needs an operator when the server refuses it, and is presented again, with the same key, when the job is resumed', async () => {
    fixture.server.interfere.push(answer(402, { 'X-Payment-Failure': 'payment_late' }));
    fixture.startWorker();
    const job = await pay('NEEDS_OPERATOR');
    await fixture.lane.journal.resumeJob(job.id);
    expect(readAnswer(await fixture.lane.waitForState(job.id, 'FINAL')).httpStatus).toBe(200);
    await expectOnePayment(2);
    const types = (await fixture.lane.readEvents()).map(({ type }) => type);
    expect(types).toEqual(['transactionSubmitted', 'jobNeedsOperator', 'transactionConfirmed', 'jobCompleted']);
  });

  it('needs an operator when it was released after a failure', async () => {
    fixture.server.interfere.push(answer(404, { 'X-Payment-Released': 'true' }, 'no\u0007 such\n\u202ecity'));
    fixture.startWorker();
    expectUnanswered(await pay('NEEDS_OPERATOR'), /but the server answers with status 404: "no such city"\.$/);
    await expectOnePayment(1);
  });

  it('is answered by a failure that was charged for', async () => {
    fixture.server.interfere.push(answer(404, {}, 'nothing there'));
    fixture.server.interfere.push(
      answer(404, { 'Idempotent-Replayed': 'true', 'content-type': 'text/plain' }, 'nothing there'),
    );
    fixture.startWorker();
    expect(readAnswer(await pay('FINAL'))).toMatchObject({ httpStatus: 404, body: 'nothing there' });
    await expectOnePayment(2);
  });

  it('is sent to no other server, wherever the server redirects it', async () => {
    const thief = await startPaidServer(fixture.lane.chain);
    try {
      fixture.startWorker();
      for (const location of [thief.url, 'http://169.254.169.254/']) {
        fixture.server.interfere.push(...Array(2).fill(answer(307, { location })));
        expectUnanswered(await pay('NEEDS_OPERATOR'), /redirects the paid request, which is not followed/);
      }
      expect(thief.seen).toEqual([]);
      expect(fixture.server.paid().map(({ url }) => url)).toEqual(Array(4).fill('/api/weather'));
    } finally {
      await thief.close();
    }
  });

  it('is answered by the target of a redirect that it has bought, which does not get the proof', async () => {
    const store = await startPaidServer(fixture.lane.chain);
    try {
      fixture.startWorker();
      const headers = { location: `${store.origin}/free`, 'idempotent-replayed': 'true' };
      fixture.server.interfere.push(answer(302, headers));
      expect(readAnswer(await pay('FINAL'))).toMatchObject({ httpStatus: 200, body: 'free' });
      expect(store.paid()).toEqual([]);
    } finally {
      await store.close();
    }
  });

  it('needs an operator when no answer comes in time', async () => {
    fixture.server.interfere.push(...Array.from({ length: 50 }, () => () => true));
    fixture.startWorker({ attemptTimeoutMs: 1_000, redeemWithinMs: 3_000 });
    expectUnanswered(
      await pay('NEEDS_OPERATOR'),
      /the server did not answer in time: The server took too long to answer\./,
    );
    expect(await fixture.transfers()).toHaveLength(1);
  });

  it('needs an operator when the server is gone', async () => {
    fixture.server.interfere.push((response) => {
      void fixture.server.close();
      return Boolean(response.destroy());
    });
    fixture.startWorker({ redeemWithinMs: 3_000 });
    expectUnanswered(await pay('NEEDS_OPERATOR'), /the server did not answer in time: .*ECONNREFUSED/);
    expect(await fixture.transfers()).toHaveLength(1);
  });

  it('needs an operator when the answer arrives too slowly', async () => {
    fixture.server.interfere.push(...Array.from({ length: 50 }, () => endless('.', 20)));
    fixture.startWorker({ attemptTimeoutMs: 1_000, redeemWithinMs: 3_000 });
    expectUnanswered(
      await pay('NEEDS_OPERATOR'),
      /the server did not answer in time: The server took too long to answer\./,
    );
    expect(await fixture.transfers()).toHaveLength(1);
  });

  it.each([
    ['pours', endless('x'.repeat(100_000), 1, { 'content-type': 'text/plain' })],
    ['is a stream of events that', endless('data: x\n\n'.repeat(1_000), 1, { 'content-type': 'text/event-stream' })],
  ])('is answered with the beginning of the body when the body %s', async (_, interference) => {
    fixture.server.interfere.push(interference);
    fixture.startWorker();
    const { body, isBodyCut } = readAnswer(await pay('FINAL'));
    expect(isBodyCut).toBe(true);
    expect(body).toHaveLength(64 * 1024);
  });

  it.each([
    ['a table', 'text/csv', '\ufeffcity,sky\r\nBern,\u202e☀\n'],
    ['the longest text that is kept whole', 'text/plain', '"'.repeat(64 * 1024)],
    ['text of an unknown type', 'application/csv', 'city,sky\n'],
  ])('is answered with %s, as it came', async (_, contentType, body) => {
    fixture.startWorker();
    fixture.server.interfere.push(answer(200, { 'content-type': contentType }, body));
    const kept = readAnswer(await pay('FINAL'));
    expect(kept).toEqual({ httpStatus: 200, contentType, body, bodyBase64: null, isBodyCut: false });
  });

  it.each([
    ['an image', 'image/png', Buffer.from('89504e470d0a1a0a0000000d', 'hex')],
    ['text that is not UTF-8', 'text/plain; charset=iso-8859-1', Buffer.from('Zürich\n', 'latin1')],
    ['control characters', 'text/plain', Buffer.alloc(64 * 1024)],
  ])('is answered with the bytes of %s', async (_, contentType, bytes) => {
    fixture.startWorker();
    fixture.server.interfere.push((response) =>
      Boolean(response.writeHead(200, { 'content-type': contentType }).end(bytes)),
    );
    const kept = readAnswer(await pay('FINAL'));
    const bodyBase64 = bytes.toString('base64');
    expect(kept).toEqual({ httpStatus: 200, contentType, body: null, bodyBase64, isBodyCut: false });
  });

  it('keeps whole characters of a text that is cut', async () => {
    fixture.startWorker();
    fixture.server.interfere.push(answer(200, { 'content-type': 'text/plain' }, '☀'.repeat(22_000)));
    expect(readAnswer(await pay('FINAL'))).toMatchObject({ body: '☀'.repeat(21_845), isBodyCut: true });
  });

  it('is left to the next worker when this one stops, without delaying the stop', async () => {
    fixture.server.interfere.push(() => true);
    fixture.startWorker();
    const jobId = await submit();
    await waitFor('the payment is shown', () => fixture.server.paid().length === 1);
    await fixture.lane.endWorkers();
    await fixture.stopPlanners();
    expect((await fixture.lane.readJob(jobId)).state).toBe('MINED');

    fixture.startWorker();
    await fixture.lane.waitForState(jobId, 'FINAL');
    await expectOnePayment(2);
  });

  it('does not delay other jobs of the wallet while its server is slow', async () => {
    fixture.server.interfere.push(() => true);
    fixture.startWorker();
    const slow = await submit();
    await waitFor('the payment is shown', () => fixture.server.paid().length === 1);
    await pay('FINAL');
    expect((await fixture.lane.readJob(slow)).state).toBe('MINED');
  });

  it('fails when it reverted', async () => {
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    const planner = fixture.createPlanner();
    const [step] = (await planner.plan(await job(), { token })).draft.steps;
    const hash = `0x${'ab'.repeat(32)}` as const;
    const mined = { hash, blockHash: hash, blockNumber: 1 };
    const { label, to, data, value } = step!;
    const state = { gas: 1n, nonce: 1, attempts: [], signature: null, mined, skipped: false, voided: false };
    const asked = { label, to, data, value, ...state };
    const receipt = { transactionHash: hash, blockHash: hash, blockNumber: 1, gasUsed: 1n, logs: [] };
    await expect(
      planner.answers.judge(await job(), asked, { ...receipt, status: 'reverted' }, { token }),
    ).resolves.toMatchObject({ outcome: 'failed', failure: { code: 'TRANSACTION_REVERTED' } });
    const other = { ...asked, data: '0x' as const };
    await expect(
      planner.answers.judge(await job(), other, { ...receipt, status: 'success' }, { token }),
    ).resolves.toMatchObject({
      outcome: 'needs_operator',
    });
    expect(fixture.server.paid()).toEqual([]);
  });
});
