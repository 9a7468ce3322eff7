import { REDIS_LOGGER } from '@tollgate/common';
import { hashRetryKey } from '@tollgate/ledger';
import { createHashLock, lockOf, type Hex } from '@tollgate/protocol';
import { connectRedis, type RedisClient } from '@tollgate/redis';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { startRedis } from '../../../../tools/devnet/processes/redis.js';
import {
  answerJson,
  createRoute,
  createTxHash,
  proofFor,
  send,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
} from '../../test/start-gateway.js';
import { ReportedHashes } from './reported-hashes.js';

const BROWSER = { accept: 'text/html', 'sec-fetch-dest': 'document' };
const JSON_TYPE = { 'content-type': 'application/json' };
let redis: BorrowedRedis;
let verifier: LedgerVerifier;
/** Two replicas over one Redis. */
let gateways: RunningGateway[];
let answers = 0;

beforeAll(async () => {
  redis = await borrowRedis();
  verifier = await startLedgerVerifier(redis.url);
  const routes = [createRoute(() => answerJson({ secret: `answer ${(answers += 1)}` }))];
  gateways = [await startGateway(redis.url, routes), await startGateway(redis.url, routes)];
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await verifier.stop();
  await redis.stop();
});

const [desk, phone] = [() => gateways[0]!, () => gateways[1]!];

async function openPage(path = '/api/weather'): Promise<{ reference: string; ticketUrl: string | null; body: string }> {
  const { body } = await send(desk().port, { path, headers: BROWSER });
  const [, data = ''] = /id="page-data">([^<]*)</.exec(body) ?? [];
  const { options } = JSON.parse(data) as { options: { reference: string; ticketUrl: string | null }[] };
  return { ...options[0]!, body };
}

const post = (gateway: RunningGateway, path: string, body: unknown, headers = JSON_TYPE) =>
  send(gateway.port, { path, method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
const ask = async (reference: string) =>
  (JSON.parse((await post(desk(), '/pay', { reference })).body) as { txHashes: Hex[] }).txHashes;

describe('a phone that pays for a desktop', () => {
  it('gets a page from the ticket, with the lock and without the reference', async () => {
    const { reference, ticketUrl } = await openPage();
    const { status, headers, body } = await send(phone().port, { path: ticketUrl ?? '' });
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(body).toContain(createHashLock(reference).slice(2));
    expect(body).not.toContain(reference);
    expect(ticketUrl).not.toContain(reference);
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('reports its transaction, of which the desktop learns by its reference, at another replica', async () => {
    const { reference, ticketUrl } = await openPage();
    expect(await ask(reference)).toEqual([]);
    const txHash = createTxHash();
    const reported = await post(phone(), ticketUrl ?? '', { txHash });
    expect([reported.status, reported.body]).toEqual([202, '{"accepted":true}']);
    expect(await ask(reference)).toEqual([txHash]);
  });

  it('is one of two phones: both transactions are known, each once', async () => {
    const { reference, ticketUrl } = await openPage();
    const hashes = [createTxHash(), createTxHash()];
    const answered = await Promise.all(
      [...hashes, ...hashes].map((txHash) => post(phone(), ticketUrl ?? '', { txHash })),
    );
    expect(new Set(answered.map(({ status, body }) => `${status} ${body}`))).toEqual(
      new Set(['202 {"accepted":true}']),
    );
    expect((await ask(reference)).sort()).toEqual([...hashes].sort());
  });

  it('has no code where the path is too long for one, and the page pays without it', async () => {
    const routes = [createRoute(() => answerJson('sold'), { path: '/files/*' })];
    const gateway = await startGateway(redis.url, routes);
    const { body, status } = await send(gateway.port, { path: `/files/${'x'.repeat(700)}`, headers: BROWSER });
    await gateway.stop();
    expect(status).toBe(402);
    expect(body).toContain('"ticketUrl":null');
  });
});

describe('a stranger with ticket, code, log line and transaction hash', () => {
  it('gets no answer, no stored answer and no status', async () => {
    const { reference, ticketUrl } = await openPage();
    const ticket = ticketUrl ?? '';
    const txHash = createTxHash();
    await post(phone(), ticket, { txHash });
    // As the verifier claims a transfer that is locked to the reference.
    verifier.judgements.set(txHash, ({ reference: opens, ...question }) =>
      verifier.claim({ ...question, retryKey: opens === undefined ? null : hashRetryKey(opens.text) }),
    );
    // The payer redeems; its answer is stored.
    const headers = { 'x-payment': proofFor(txHash, { reference }) };
    const bought = await send(desk().port, { path: '/api/weather', headers });
    expect(bought.status).toBe(200);

    const secret = (JSON.parse(bought.body) as { secret: string }).secret;
    const tries = [
      await send(phone().port, { path: ticket }),
      await post(phone(), ticket, { txHash }),
      await post(phone(), '/pay', { reference: ticket.split('/').at(-1) }),
      await post(phone(), '/pay', { reference: createHashLock(reference) }),
      await post(phone(), '/pay', { ticket, txHash }),
      await send(phone().port, { path: '/api/weather', headers: { 'x-payment': proofFor(txHash) } }),
      await send(phone().port, {
        path: '/api/weather',
        headers: { 'x-payment': proofFor(txHash, { reference: ticket.slice(5) }) },
      }),
      await send(phone().port, {
        path: '/api/weather',
        headers: { 'idempotency-key': txHash, 'x-payment': proofFor(txHash) },
      }),
    ];
    expect(tries.map(({ status }) => status)).toEqual([200, 202, 400, 400, 400, 402, 402, 402]);
    for (const { body } of tries) {
      expect(body).not.toContain(secret);
      expect(body).not.toContain(reference);
      expect(body).not.toContain(txHash);
    }
    // The ticket's page and its answers are the same before and after the payment.
    const again = await post(phone(), ticket, { txHash: createTxHash() });
    expect([again.status, again.body]).toEqual([202, '{"accepted":true}']);
    const replayed = await send(desk().port, { path: '/api/weather', headers });
    expect([replayed.status, replayed.body]).toEqual([200, bought.body]);
  });

  it.each(['', '/x', `/${'A'.repeat(400)}`, `/${'A'.repeat(2000)}`])('cannot use /pay%s as a ticket', async (path) => {
    const { status } = await post(phone(), `/pay${path}`, { txHash: createTxHash() });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  it('sees that an expired ticket is one, and cannot report with it long after', async () => {
    const { ticketUrl } = await openPage();
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 301_000);
    try {
      const page = await send(phone().port, { path: ticketUrl ?? '' });
      expect(page.status).toBe(404);
      expect(page.body).toContain('This code has expired');
      // A transaction that was sent in the last moment may still be reported.
      const late = await post(phone(), ticketUrl ?? '', { txHash: createTxHash() });
      now.mockReturnValue(Date.now() + 700_000);
      const tooLate = await post(phone(), ticketUrl ?? '', { txHash: createTxHash() });
      expect([late.status, tooLate.status]).toEqual([202, 404]);
    } finally {
      now.mockRestore();
    }
  });
});

describe('hostile reports', () => {
  it.each<[unknown, Record<string, string>]>([
    ['{', JSON_TYPE],
    ['null', JSON_TYPE],
    ['[]', JSON_TYPE],
    [{}, JSON_TYPE],
    [{ txHash: 5 }, JSON_TYPE],
    [{ txHash: '0x12' }, JSON_TYPE],
    [{ txHash: `${createTxHash()}00` }, JSON_TYPE],
    ['{"__proto__":{"txHash":"0x"}}', JSON_TYPE],
    [{ txHash: createTxHash() }, { 'content-type': 'text/plain' }],
    ['x'.repeat(2000), JSON_TYPE],
  ])('%j are refused', async (body, headers) => {
    const { ticketUrl } = await openPage();
    for (const path of [ticketUrl ?? '', '/pay']) {
      const { status } = await post(phone(), path, body, headers as typeof JSON_TYPE);
      expect([400, 413, 415]).toContain(status);
    }
  });

  it('are bounded in number for each ticket, and for each address and minute', async () => {
    const { reference, ticketUrl } = await openPage();
    const gateway = await startGateway(redis.url, [createRoute(() => answerJson('sold'))]);
    const statuses: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      statuses.push((await post(gateway, ticketUrl ?? '', { txHash: createTxHash() })).status);
    }
    await gateway.stop();
    expect(statuses.filter((status) => status === 202)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(await ask(reference)).toHaveLength(16);
  });

  describe('beyond the bounds', () => {
    const nowMs = 5 * 900_000;
    const keys = ['locks', 'networks'].map((kind) => `tollgate:reported-hashes:{5}:${kind}`);
    let client: RedisClient;
    let reports: ReportedHashes;

    beforeAll(() => {
      client = connectRedis({ url: redis.url, role: 'test', logger: REDIS_LOGGER });
      reports = new ReportedHashes(client);
    });
    beforeEach(() => client.del(...keys));
    afterAll(() => client.disconnect());

    const reportFrom = (network: string, lock = createTxHash(), txHash = createTxHash()) =>
      reports.report({ lock, txHash, network }, nowMs).then((isTaken) => ({ isTaken, lock, txHash }));
    const isKnown = async ({ lock, txHash }: { lock: Hex; txHash: Hex }) =>
      (await reports.find(lock, nowMs)).includes(txHash);

    it('are dropped oldest first, and only those of the same network', async () => {
      const other = await reportFrom('192.0.2.7');
      const own = [];
      for (let count = 0; count < 101; count += 1) own.push(await reportFrom('2001:db8:0:0::/64'));
      expect(own.every(({ isTaken }) => isTaken)).toBe(true);
      expect(await Promise.all(own.slice(0, 3).map(isKnown))).toEqual([false, true, true]);
      expect(await isKnown(other)).toBe(true);
      expect(await client.zcard(keys[1]!)).toBe(101);
    });

    it('are dropped for one lock by the network that fills it, and of no other', async () => {
      const lock = createTxHash();
      const paid = await reportFrom('192.0.2.7', lock);
      for (let count = 0; count < 20; count += 1)
        expect(await reportFrom('192.0.2.8', lock)).toMatchObject({ isTaken: true });
      expect(await isKnown(paid)).toBe(true);
      expect(await reports.find(lock, nowMs)).toHaveLength(16);
      expect(await reportFrom('192.0.2.9', lock)).toMatchObject({ isTaken: false });
      expect(await reportFrom('192.0.2.9', lock, paid.txHash)).toMatchObject({ isTaken: true });
    });

    it('are refused when there are too many of others, and the phone is told', async () => {
      const filler = Array.from({ length: 19_999 }, (_, index) => [0, `filler${index}`]).flat();
      await client.zadd(keys[0]!, ...filler.map(String));
      const first = await reportFrom('192.0.2.7');
      expect(await reportFrom('192.0.2.8')).toMatchObject({ isTaken: false });
      expect([await reportFrom('192.0.2.7'), await isKnown(first)]).toMatchObject([{ isTaken: true }, false]);

      const { reference, ticketUrl } = await openPage();
      // Also the next quarter of an hour, which may begin now.
      const nowBucket = Math.floor(Date.now() / 900_000);
      const filled = [nowBucket, nowBucket + 1].map((bucket) => `tollgate:reported-hashes:{${bucket}}:locks`);
      for (const key of filled) {
        await client.zadd(key, ...filler.map(String), 0, 'last');
        // Nothing of this address is left to drop.
        await client.del(key.replace('locks', 'networks'));
      }
      const [unpaid, paid] = [createTxHash(), createTxHash()];
      const { status, headers, body } = await post(desk(), ticketUrl ?? '', { txHash: unpaid });
      expect([status, headers['retry-after'], body]).toEqual([
        503,
        '5',
        expect.stringContaining('on the other screen'),
      ]);

      // The chain says which of them has paid; it is asked every five seconds at most, by whatever gateway.
      const lock = lockOf(reference);
      verifier.locked.set(paid, lock);
      expect((await post(phone(), ticketUrl ?? '', { txHash: paid })).status).toBe(503);
      const looks = await client.keys(`*looks:${lock.slice(2)}`);
      expect(await client.pttl(looks[0]!)).toBeGreaterThan(2_000);
      await client.del(...looks);
      expect((await post(phone(), ticketUrl ?? '', { txHash: paid })).status).toBe(202);
      for (const key of filled) await client.del(key);
      expect(await ask(reference)).toEqual([paid]);
      const asked = verifier.lockQuestions.map(({ txHash, priceBaseUnits }) => [txHash, priceBaseUnits]);
      expect(asked).toEqual([unpaid, paid].map((txHash) => [txHash, '1000']));
    });

    it('are forgotten', async () => {
      const { lock, txHash } = await reportFrom('192.0.2.7');
      for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
      expect(await reports.find(lock, nowMs + 2 * 900_000)).toEqual([txHash]);
      expect(await reports.find(lock, nowMs + 3 * 900_000)).toEqual([]);
    });
  });

  it('are answered 503 while Redis is away', async () => {
    const own = await startRedis();
    const gateway = await startGateway(own.url, [createRoute(() => answerJson('sold'))]);
    const { reference, ticketUrl } = await openPage();
    await own.stop();
    const answered = [
      await post(gateway, ticketUrl ?? '', { txHash: createTxHash() }),
      await post(gateway, '/pay', { reference }),
    ];
    await gateway.stop();
    expect(answered.map(({ status }) => status)).toEqual([503, 503]);
  });
});
