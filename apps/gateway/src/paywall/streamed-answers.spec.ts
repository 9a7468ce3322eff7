import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

import { startUpstream } from '../../../../test/flows/start-upstream.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { createOption } from '../../test/create-option.js';
import { createPayment, presentV2, readChallenge, readHeader } from '../../test/present-payments.js';
import { startGateway, type RunningGateway } from '../../test/start-gateway.js';
import { startRelay, type Relay } from '../../test/start-relay.js';
import { parseRoutes } from '../resources/routes-file/parse-routes.js';

let redis: BorrowedRedis;
let relay: Relay;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let gateway: RunningGateway;

beforeAll(async () => {
  redis = await borrowRedis();
  relay = await startRelay(redis.url);
  upstream = await startUpstream((_, response) => response.end());
  const route = `price: "0.001", upstream: "${upstream.url}", answer: streamed`;
  const text = `routes:\n  - { path: /after, methods: [GET, POST], ${route} }\n  - { path: /before, ${route}, settle: before }`;
  const context = {
    env: {},
    options: [createOption({ decimals: 6 })],
    maxStoredAnswerBytes: 1_000,
    signedPayments: true,
    sellsWeather: false,
  };
  gateway = await startGateway(redis.url, parseRoutes(text, context), { SIGNED_PAYMENTS: 'true' });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([upstream.stop(), relay.stop()]);
  await redis.stop();
});
beforeEach(() => {
  relay.asked.length = upstream.requests.length = 0;
});

/** A signed payment, and the request that presents it. */
async function order(path: string, init: RequestInit = {}) {
  const payment = createPayment();
  const headers = presentV2(await readChallenge(gateway.url + path, init), payment);
  const send = (more: RequestInit = {}) => fetch(gateway.url + path, { ...init, headers, ...more });
  const settleBy = (settlement: Parameters<Relay['settlements']['set']>[1]) =>
    relay.settlements.set(payment.authorization.nonce, settlement);
  return { nonce: payment.authorization.nonce, send, settleBy };
}

/** The upstream begins an answer that does not end by itself. */
function beginAnswer(): Promise<ServerResponse> {
  return new Promise((resolve) => {
    upstream.answer = (_, response) => {
      response.writeHead(200).write('first');
      resolve(response);
    };
  });
}

const answerWhole = () => (upstream.answer = (_, response) => void response.end('whole'));

describe('a signed payment for a streamed answer', () => {
  // Prevents: a payer signs anew after each failure of the upstream, and pays for all of them.
  it('is not settled for an upstream that answers an error', async () => {
    for (const status of [429, 500, 503]) {
      upstream.answer = (_, response) => response.writeHead(status).end('not now');
      const { send } = await order('/after');
      const failed = await send();
      expect([failed.status, failed.headers.get('x-payment-released')]).toEqual([status, 'true']);
    }
    expect([upstream.requests.length, relay.asked.length]).toEqual([3, 0]);
  });

  it('is settled once the upstream has answered, and before the first byte leaves', async () => {
    const begun = beginAnswer();
    const { nonce, send, settleBy } = await order('/after');
    let hasLeft = false;
    settleBy(async (request) => {
      (await begun).end('last');
      expect(hasLeft).toBe(false);
      return relay.settle(request);
    });
    const answer = await send();
    hasLeft = true;
    expect(readHeader(answer, 'payment-response')).toMatchObject({
      success: true,
      transaction: relay.moved.get(nonce),
    });
    expect([await answer.text(), relay.asked.length]).toEqual(['firstlast', 1]);
  });

  it.each([
    ['fails', 402, { outcome: 'failed', failure: 'balance_too_low', txHash: null }],
    ['is pending', 503, { outcome: 'pending', txHash: null }],
    ['cannot begin', 503, { outcome: 'unavailable', reason: 'no_relayer' }],
  ] as const)('whose settlement %s aborts the upstream, and buys the answer later', async (_case, status, result) => {
    const begun = beginAnswer();
    const { send, settleBy } = await order('/after');
    const closed = begun.then((response) => once(response, 'close'));
    settleBy(() => result);
    expect((await send()).status).toBe(status);
    await closed;
    relay.settlements.clear();
    answerWhole();
    const answer = await send();
    expect([answer.status, await answer.text()]).toEqual([200, 'whole']);
    expect(new Set(upstream.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it('is charged where the upstream breaks off while it is settled, and gets the answer anew', async () => {
    const begun = beginAnswer();
    const { send, settleBy } = await order('/after');
    settleBy(async (request) => {
      const response = await begun;
      const closed = once(response, 'close');
      response.destroy();
      await closed;
      return relay.settle(request);
    });
    const broken = await send();
    expect(broken.status).toBe(200);
    await expect(broken.text()).rejects.toThrow();
    answerWhole();
    const again = await send();
    expect([again.status, again.headers.get('idempotent-replayed'), await again.text()]).toEqual([
      200,
      'true',
      'whole',
    ]);
    expect(relay.asked).toHaveLength(1);
  });

  it('of an unsafe method is charged once where the upstream breaks off, and the upstream is not asked anew', async () => {
    const begun = beginAnswer();
    const { send, settleBy } = await order('/after', { method: 'POST', body: 'order' });
    settleBy(async (request) => {
      (await begun).destroy();
      return relay.settle(request);
    });
    await expect(send().then((answer) => answer.text())).rejects.toThrow();
    expect([(await send()).status, upstream.requests.length, relay.asked.length]).toEqual([410, 1, 1]);
  });

  it('buys the answer for a client that left while it was settled', async () => {
    answerWhole();
    const { send, settleBy } = await order('/after');
    const leave = new AbortController();
    const settled = new Promise<void>((resolve) =>
      settleBy(async (request) => {
        leave.abort();
        await lost;
        resolve();
        return relay.settle(request);
      }),
    );
    const lost = expect(send({ signal: leave.signal })).rejects.toThrow();
    await settled;
    let again = await send();
    while (again.status === 409) again = await send();
    expect([again.status, again.headers.get('idempotent-replayed'), await again.text()]).toEqual([
      200,
      'true',
      'whole',
    ]);
    expect(relay.asked).toHaveLength(1);
  });

  it('is settled before the upstream is asked where the route says so', async () => {
    answerWhole();
    const { send, settleBy } = await order('/before');
    settleBy((request) => {
      expect(upstream.requests).toHaveLength(0);
      return relay.settle(request);
    });
    expect(await (await send()).text()).toBe('whole');
    expect(relay.asked).toHaveLength(1);
  });
});
