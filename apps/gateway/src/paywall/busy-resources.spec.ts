import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { createPayment, presentV1 } from '../../test/present-payments.js';
import { answerJson, createRoute, startGateway, type RunningGateway } from '../../test/start-gateway.js';
import { startRelay, type Relay } from '../../test/start-relay.js';
import type { ProducedAnswer } from './route/paid-route.js';

let redis: BorrowedRedis;
let relay: Relay;
let gateways: RunningGateway[];
let made: number;
let produce: () => ProducedAnswer;

beforeAll(async () => {
  redis = await borrowRedis();
  relay = await startRelay(redis.url);
  const resource = () => {
    made += 1;
    return produce();
  };
  const routes = [
    createRoute(resource),
    createRoute(resource, { path: '/lenient', chargeOn: '<500' }),
    createRoute(resource, { path: '/stream', answer: 'streamed' }),
    createRoute(resource, { path: '/first', settle: 'before' }),
    createRoute(resource, { path: '/orders', methods: ['POST'] }),
  ];
  const env = { SIGNED_PAYMENTS: 'true' };
  gateways = [await startGateway(redis.url, routes, env), await startGateway(redis.url, routes, env)];
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await relay.stop();
  await redis.stop();
});
beforeEach(() => {
  relay.asked.length = made = 0;
});

/** Sends the same request with the same new payment each time. */
function order(path: string, init: RequestInit = {}) {
  const headers = { ...presentV1(createPayment()), 'Idempotency-Key': 'key' };
  return (gateway = 0) => fetch(gateways[gateway]!.url + path, { ...init, headers });
}

function beBusy(status: number, retryAfter?: string): void {
  const busy = answerJson('not now', status);
  const told: [string, string][] = retryAfter === undefined ? [] : [['Retry-After', retryAfter]];
  produce = () => ({ ...busy, headers: [...busy.headers, ...told] });
}

const answer = () => (produce = () => answerJson('now'));

/** Sends a request until the gateway no longer answers it itself. */
async function untilAsked(send: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await send();
    const { code } = (await response.clone().json()) as { code?: string };
    if (code !== 'upstream_busy') return response;
    await sleep(100);
  }
}

describe('a busy resource', () => {
  it.each([
    ['503 without Retry-After', 503, undefined, 5],
    ['503', 503, '600', 600],
    ['429', 429, '600', 600],
    ['429 for a day', 429, '86400', 86_400],
  ])('that answers %s is asked for no payment again before its time', async (_case, status, retryAfter, seconds) => {
    const send = order('/api/weather');
    beBusy(status, retryAfter);
    const busy = await send();
    expect([busy.status, busy.headers.get('x-payment-released')]).toEqual([status, 'true']);
    expect(busy.headers.get('retry-after')).toBe(String(seconds));
    for (const gateway of [0, 1]) {
      const told = await send(gateway);
      expect([told.status, told.headers.get('x-payment-released')]).toEqual([503, 'true']);
      expect(await told.json()).toMatchObject({ code: 'upstream_busy' });
      const left = Number(told.headers.get('retry-after'));
      // Each gateway knows Redis's clock to some milliseconds, less well on a busy machine, and whole seconds are told.
      expect(left > 0 && left <= seconds + 1).toBe(true);
    }
    expect([made, relay.asked.length]).toEqual([1, 0]);
    // Other payments are none of its business.
    answer();
    expect((await order('/api/weather')()).status).toBe(200);
  });

  it('is never charged, whatever the route says, and keeps its payment for as long as it is busy', async () => {
    const send = order('/lenient');
    for (const status of [429, 503, 429, 503, 429, 503]) {
      beBusy(status, '0');
      const busy = await untilAsked(send);
      expect([busy.status, busy.headers.get('x-payment-released')]).toEqual([status, 'true']);
    }
    expect([made, relay.asked.length]).toEqual([6, 0]);
    answer();
    expect((await untilAsked(() => send(1))).status).toBe(200);
    expect(relay.asked).toHaveLength(1);
  });

  it('is asked fifty times at most for one payment', async () => {
    const send = order('/orders', { method: 'POST', body: 'order' });
    beBusy(503, '0');
    const client = new Redis(redis.url);
    const before = await client.keys('*:auth:*');
    expect((await send()).status).toBe(503);
    const entry = (await client.keys('*:auth:*')).find((key) => !before.includes(key));
    expect(await client.hincrby(entry ?? '', 'auth:pauses', 48)).toBe(49);
    client.disconnect();
    expect((await untilAsked(send)).status).toBe(503);
    const refused = await send();
    expect([refused.status, refused.headers.get('x-payment-failure'), made]).toEqual([402, 'released_too_often', 2]);
  });

  it('that was paid before it was asked gives its answer for the same payment later', async () => {
    const send = order('/first');
    beBusy(503, '0');
    expect((await send()).status).toBe(503);
    answer();
    expect((await untilAsked(() => send(1))).status).toBe(200);
    expect([made, relay.asked.length]).toEqual([2, 1]);
  });

  it('is left alone by a payment too whose streamed answer is to be made again', async () => {
    const send = order('/stream');
    answer();
    expect((await send()).status).toBe(200);
    beBusy(503);
    const busy = await send();
    expect([busy.status, busy.headers.get('retry-after'), busy.headers.get('x-payment-released')]).toEqual([
      503,
      '5',
      null,
    ]);
    const told = await send(1);
    expect([told.status, await told.json()]).toMatchObject([503, { code: 'upstream_busy' }]);
    expect([made, told.headers.get('x-payment-released')]).toEqual([2, null]);
  });
});
