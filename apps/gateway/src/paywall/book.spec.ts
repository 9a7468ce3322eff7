import { createHash } from 'node:crypto';

import { Redis } from 'ioredis';

import { readEvents } from '../../../../libs/ledger/test/read-events.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import {
  answerJson,
  ASSET,
  createRoute,
  createTxHash,
  PAY_TO,
  proofFor,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
} from '../../test/start-gateway.js';
import type { ProducedAnswer } from './route/paid-route.js';

interface Challenge {
  accepts: [{ extra: { reference: string } }];
}

describe('what the paywall reports to the book', () => {
  let server: BorrowedRedis;
  let redis: Redis;
  let verifier: LedgerVerifier;
  let gateway: RunningGateway;
  let produced: ProducedAnswer;

  beforeAll(async () => {
    server = await borrowRedis();
    redis = new Redis(server.url);
    verifier = await startLedgerVerifier(server.url);
    const settings = { BOOK: 'on', BOOK_QUERY: 'true', CHAIN_ID: '1328' };
    gateway = await startGateway(server.url, [createRoute(() => produced)], settings);
  });

  afterAll(async () => {
    await gateway.stop();
    await verifier.stop();
    redis.disconnect();
    await server.stop();
  });

  const present = (txHash: `0x${string}`, headers: Record<string, string> = {}, { url } = gateway): Promise<Response> =>
    fetch(`${url}/api/weather/?city=Bern&api_key=s3cret`, { headers: { 'X-Payment': proofFor(txHash), ...headers } });

  it('is one event for a sale, with everything about it, and none for its replays', async () => {
    produced = answerJson({ sunny: true });
    const txHash = createTxHash();
    const beforeMs = Date.now() - 60_000;
    const answers = [
      await present(txHash, { 'Idempotency-Key': 'k' }),
      await present(txHash, { 'Idempotency-Key': 'k' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const events = await readEvents(redis, `tx:1328:${txHash}:0`);
    expect(events).toEqual([
      {
        type: 'answered',
        atMs: expect.any(Number),
        payment: `tx:1328:${txHash}:0`,
        facts: {
          requestId: expect.stringMatching(/\S/),
          route: '/api/weather',
          path: '/api/weather/',
          query: 'city=Bern',
          method: 'GET',
          scheme: 'tx-hash',
          network: 'eip155:1328',
          chainId: 1328,
          asset: ASSET.toLowerCase(),
          payTo: PAY_TO.toLowerCase(),
          payer: PAY_TO.toLowerCase(),
          amount: null,
          price: '1000',
          transaction: txHash,
          logIndex: 0,
          requestHash: expect.stringMatching(/^[\w-]{22}$/),
          answerHash: createHash('sha256').update('{"sunny":true}').digest('hex'),
          status: 200,
          bytes: 14,
          upstreamMs: expect.any(Number),
          timeline: {
            presentedAtMs: expect.any(Number),
            verifiedAtMs: expect.any(Number),
            claimedAtMs: expect.any(Number),
            fulfilledAtMs: expect.any(Number),
            settledAtMs: null,
          },
        },
      },
    ]);
    const [event] = events;
    if (event?.type !== 'answered') throw new Error('It is not the event of an answer.');
    const { presentedAtMs, claimedAtMs, fulfilledAtMs } = event.facts.timeline;
    for (const timeMs of [presentedAtMs, claimedAtMs, fulfilledAtMs]) expect(timeMs).toBeGreaterThan(beforeMs);
  });

  it.each([
    ['a failure', 500, false],
    ['a redirect inside, whose target another payment buys', 302, true],
  ])('is the release of money that has arrived, with its reason: %s', async (_, status, isMoved) => {
    produced = { ...answerJson({ error: 'no' }, status), isMoved };
    const txHash = createTxHash();
    const response = await present(txHash);
    expect([response.status, response.headers.get('x-payment-released')]).toEqual([status, 'true']);
    const [event, ...others] = await readEvents(redis, `tx:1328:${txHash}:0`);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'released',
      facts: { reason: `answered_${status}`, sale: { transaction: txHash, route: '/api/weather', price: '1000' } },
    });
  });

  it('has the price of an earlier challenge only where the transaction is bound to it, and no query unless it is set', async () => {
    produced = answerJson({ sunny: true });
    const routes = [createRoute(() => produced, { price: '0.0009' })];
    const earlier = await startGateway(server.url, routes, { BOOK: 'on', CHAIN_ID: '1328' });
    const challenge = (await (await fetch(`${earlier.url}/api/weather`)).json()) as Challenge;
    const sold = createTxHash();
    expect((await present(sold, {}, earlier)).status).toBe(200);
    const [event] = await readEvents(redis, `tx:1328:${sold}:0`);
    expect(JSON.stringify(event)).toMatch(/"path":"\/api\/weather\/","method"/);
    await earlier.stop();
    const { reference } = challenge.accepts[0].extra;
    for (const [bound, price] of [
      [false, '1000'],
      [true, '900'],
    ] as const) {
      const txHash = createTxHash();
      verifier.judgements.set(txHash, async (request) => ({ ...(await verifier.claim(request)), bound }) as never);
      expect((await present(txHash, { 'X-Payment': proofFor(txHash, { reference }) })).status).toBe(200);
      expect(await readEvents(redis, `tx:1328:${txHash}:0`)).toMatchObject([{ facts: { price } }]);
    }
  });

  it('is nothing about a proof that the verifier refuses, and about a challenge', async () => {
    const before = (await readEvents(redis)).length;
    const txHash = createTxHash();
    verifier.judgements.set(txHash, () => ({ outcome: 'refused', failure: 'transfer_missing' }));
    expect((await present(txHash)).status).toBe(402);
    expect((await fetch(`${gateway.url}/api/weather`)).status).toBe(402);
    expect(await readEvents(redis)).toHaveLength(before);
  });

  it('is refused with payment_refunded once the ledger is closed for it', async () => {
    produced = answerJson({ sunny: true });
    const txHash = createTxHash();
    const id = { kind: 'transfer', chainId: 1328, txHash, logIndex: 0 } as const;
    await verifier.ledger.close({ id, refund: 'refund-1', reason: null, allowsAnswered: false });
    const answer = await present(txHash, { 'Idempotency-Key': 'k2' });
    expect([answer.status, answer.headers.get('X-Payment-Failure')]).toEqual([402, 'payment_refunded']);
  });
});
