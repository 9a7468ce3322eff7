import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import type { VerifySignedPaymentRequest } from '@tollgate/transport';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { describePurchases, type PurchaseWay } from '../../test/describe-purchases.js';
import {
  createMppPayment,
  createPayment,
  createPermit,
  payloadOf,
  presentMpp,
  presentV1,
  presentV2,
  readChallenge,
  readHeader,
} from '../../test/present-payments.js';
import { answerJson, ASSET, createRoute, PAY_TO, startGateway, type RunningGateway } from '../../test/start-gateway.js';
import { createHash, startRelay, type Relay } from '../../test/start-relay.js';
import type { ProducedAnswer, ResourceRequest } from './route/paid-route.js';

let redis: BorrowedRedis;
let relay: Relay;
let gateway: RunningGateway;
/** A gateway with short deadlines, for replies that never come. */
let hasty: RunningGateway;
let made: ResourceRequest[];
let settledBefore: number[];
let produce: (request: ResourceRequest) => Promise<ProducedAnswer> | ProducedAnswer;

const resource = (request: ResourceRequest): Promise<ProducedAnswer> | ProducedAnswer => {
  made.push(request);
  settledBefore.push(relay.asked.length);
  return produce(request);
};

beforeAll(async () => {
  redis = await borrowRedis();
  relay = await startRelay(redis.url);
  const routes = [
    createRoute(resource),
    createRoute(resource, { path: '/other' }),
    createRoute(resource, { path: '/own-credentials', passCredentials: true }),
    createRoute(resource, { path: '/first', settle: 'before', timeLimitMs: 30_000 }),
    createRoute(resource, { path: '/slow', timeLimitMs: 30_000 }),
    createRoute(resource, { path: '/orders', methods: ['POST'] }),
  ];
  gateway = await startGateway(redis.url, routes, { SIGNED_PAYMENTS: 'true' });
  hasty = await startGateway(redis.url, routes, { SIGNED_PAYMENTS: 'true', SETTLE_DEADLINE_MS: '1000' });
});
afterAll(async () => {
  await Promise.all([gateway.stop(), hasty.stop()]);
  await relay.stop();
  await redis.stop();
});
beforeEach(() => {
  [made, settledBefore] = [[], []];
  relay.asked.length = 0;
  relay.looks.clear();
  relay.settlements.clear();
  produce = (request) => answerJson({ sold: request.path, payment: request.verification });
});

const url = (path: string) => gateway.url + path;
const get = (path: string, headers: Record<string, string>) => fetch(url(path), { headers });

const V2_RECEIPT: PurchaseWay['receipt'] = {
  header: 'payment-response',
  create: ({ transaction, payer }) => ({ success: true, transaction, network: 'eip155:1328', payer }),
};
const WAYS: Omit<PurchaseWay, 'charge'>[] = [
  {
    name: 'an authorization in x402 v1',
    present: () => {
      const payment = createPayment();
      return { payment, headers: { ...presentV1(payment), 'Idempotency-Key': createHash() } };
    },
    receipt: {
      header: 'x-payment-response',
      create: ({ transaction, payer }) => ({ success: true, transaction, network: 'chain-testnet', payer }),
    },
  },
  {
    name: 'an authorization in x402 v2',
    present: (challenge) => {
      const payment = createPayment();
      return { payment, headers: presentV2(challenge, payment) };
    },
    receipt: V2_RECEIPT,
  },
  {
    name: 'a permit in x402 v2',
    present: (challenge) => {
      const payment = createPermit(PAY_TO, { scheme: 'exact' });
      return { payment, headers: presentV2(challenge, payloadOf(payment)) };
    },
    receipt: V2_RECEIPT,
  },
  {
    name: 'an authorization in MPP',
    present: (challenge) => {
      const payment = createMppPayment(challenge);
      return { payment, headers: presentMpp(challenge, payment) };
    },
    receipt: {
      header: 'payment-receipt',
      create: ({ transaction: reference, challenge: { reference: challengeId } }) => {
        const timestamp = expect.stringMatching(/^\d{4}-.*Z$/) as string;
        return { method: 'evm', reference, status: 'success', timestamp, challengeId, chainId: 1328 };
      },
    },
  },
];

for (const way of WAYS) {
  describePurchases(
    { ...way, charge: '1000' },
    {
      relay: () => relay,
      url,
      made: () => made,
      settledBefore: () => settledBefore,
      setFailing: (isFailing) => (produce = () => answerJson({ ok: !isFailing }, isFailing ? 500 : 200)),
    },
  );
}

describe('a signed payment', () => {
  it.each([
    ['the time limit and the settlement are over', '/slow', 45_000],
    ['it is settled, on a route that settles first', '/first', undefined],
  ])('must be valid until %s', async (_, path, validForMs) => {
    const payment = createPayment();
    const asked: VerifySignedPaymentRequest[] = [];
    relay.looks.set(payment.authorization.nonce, (request) => {
      asked.push(request);
      return { outcome: 'refused', failure: 'authorization_expired', payer: PAY_TO };
    });
    const response = await get(path, presentV1(payment));
    expect([response.status, response.headers.get('x-payment-failure')]).toEqual([402, 'authorization_expired']);
    expect(asked.map((question) => question.validForMs)).toEqual([validForMs]);
    expect(made).toEqual([]);
  });

  it('is not forwarded to the upstream, unlike other credentials', async () => {
    const challenge = await readChallenge(url('/api/weather'));
    const { Authorization } = presentMpp(challenge, createMppPayment(challenge));
    await get('/api/weather', { Authorization: `Bearer x, ${Authorization}` });
    await get('/api/weather', { Authorization: 'Bearer x', ...presentV2(challenge, createPayment()) });
    await get('/api/weather', { Authorization: (await readMpp()).Authorization });
    expect(made.map(({ headers }) => headers.authorization)).toEqual(['Bearer x', 'Bearer x', undefined]);
    for (const { headers } of made) expect(headers).not.toHaveProperty('payment-signature');
  });

  it.each([
    ['Authorization: Bearer x; Payment-Authorization: $', 'Bearer x'],
    ['Authorization: Bearer x; authorization: $', 'Bearer x'],
    ['AUTHORIZATION: $; Authorization: Bearer x', 'Bearer x'],
    ['Authorization: Bearer x; Payment-Authorization: a, Payment; Authorization: $, Basic y', 'Bearer x, Basic y'],
  ])('by MPP is found beside the credentials that the upstream gets: %s', async (head, passed) => {
    const challenge = await readChallenge(url('/own-credentials'));
    expect(challenge.authentication).toMatchObject({ header: 'Payment-Authorization' });
    const { Authorization } = presentMpp(challenge, createMppPayment(challenge));
    const lines = head.split('; ').map((line) => line.replace('$', Authorization).split(': ') as [string, string]);
    const sold = await getRaw('/own-credentials', lines);
    expect([sold.statusCode, typeof sold.headers['payment-receipt']]).toEqual([200, 'string']);
    expect(made).toMatchObject([{ headers: { authorization: passed } }]);
    expect(JSON.stringify(made[0]?.headers)).not.toMatch(/payment/i);
  });

  it('is not looked for in other headers and schemes', async () => {
    const { Authorization } = await readMpp();
    for (const line of [
      ['Payment-Authorization', 'Bearer x'],
      ['Payment_Authorization', Authorization],
    ] as const) {
      const { statusCode, headers } = await getRaw('/api/weather', [['Authorization', 'Bearer x'], line]);
      expect([statusCode, headers['x-payment-failure']]).toEqual([402, undefined]);
    }
  });

  it('gets no second response, unless its repeat has the same key', async () => {
    const [plain, keyed] = [presentV1(createPayment()), { ...presentV1(createPayment()), 'Idempotency-Key': 'k' }];
    await get('/api/weather', plain);
    const again = await get('/api/weather', plain);
    expect([again.status, again.headers.get('x-payment-failure')]).toEqual([402, 'payment_used']);
    await get('/api/weather', keyed);
    const repeated = await get('/api/weather', keyed);
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(readHeader(repeated, 'x-payment-response')).toMatchObject({ success: true });
    expect(made).toHaveLength(2);
  });

  // Prevents: a payer that has paid is asked to pay again while the gateways are replaced for another setting.
  it('by MPP counts at a gateway with other settings only once it is settled', async () => {
    const challenge = await readChallenge(url('/api/weather'));
    const env = { SIGNED_PAYMENTS: 'true', MAX_TIMEOUT_SECONDS: '600' };
    const changed = await startGateway(redis.url, [createRoute(resource)], env);
    const payment = createMppPayment(challenge);
    const headers = presentMpp(challenge, payment);
    const present = () => fetch(`${changed.url}/api/weather`, { headers });
    const refused = await present();
    expect([refused.status, refused.headers.get('x-payment-failure')]).toEqual([402, 'unknown_reference']);
    relay.moved.set(payment.authorization.nonce, `0x${'12'.repeat(32)}`);
    const sold = await present();
    expect([sold.status, sold.headers.get('payment-receipt')]).toEqual([200, expect.any(String)]);
    const repeated = await present();
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect([made.length, relay.asked.length]).toEqual([1, 0]);
    await changed.stop();
  });

  // Prevents: gateways that are replaced for another policy refuse the challenges of each other.
  it('by MPP is accepted for a challenge that was issued under another policy', async () => {
    const start = (PAYMENT_POLICY: string) =>
      startGateway(redis.url, [createRoute(resource)], {
        SIGNED_PAYMENTS: 'true',
        PUBLIC_URL: 'https://api.example',
        PAYMENT_POLICY,
      });
    const [transfer, bound] = [await start('transfer'), await start('bound')];
    for (const [asked, paid] of [
      [transfer, bound],
      [bound, transfer],
    ] as const) {
      const challenge = await readChallenge(`${asked.url}/api/weather`);
      const headers = presentMpp(challenge, createMppPayment(challenge));
      expect((await fetch(`${paid.url}/api/weather`, { headers })).status).toBe(200);
    }
    await Promise.all([transfer.stop(), bound.stop()]);
  });

  // Prevents: a payer pays again after a change of PAY_TO or of the secret, although a relayer has moved its money.
  it('with a reference of an earlier secret counts only once it is settled', async () => {
    const challenge = await readChallenge(url('/api/weather'));
    const env = { SIGNED_PAYMENTS: 'true', CHALLENGE_SECRET: 'another-secret-of-at-least-32-characters' };
    const changed = await startGateway(redis.url, [createRoute(resource)], env);
    const [v2, mpp] = [createPayment(), createMppPayment(challenge)];
    for (const [payment, headers] of [
      [v2, presentV2(challenge, v2)],
      [mpp, presentMpp(challenge, mpp)],
    ] as const) {
      const present = () => fetch(`${changed.url}/api/weather`, { headers });
      const refused = await present();
      expect([refused.status, refused.headers.get('x-payment-failure')]).toEqual([402, 'unknown_reference']);
      relay.moved.set(payment.authorization.nonce, `0x${'13'.repeat(32)}`);
      expect((await present()).status).toBe(200);
      expect((await present()).headers.get('idempotent-replayed')).toBe('true');
      // Its own gateway knows the same retry key.
      expect((await get('/api/weather', headers)).headers.get('idempotent-replayed')).toBe('true');
    }
    expect([made.length, relay.asked.length]).toEqual([2, 0]);
    await changed.stop();
  });

  it('that bought one resource buys no other', async () => {
    const challenge = await readChallenge(url('/api/weather'));
    const payment = createPayment();
    await get('/api/weather', presentV1(payment));
    expect((await get('/other', presentV1(payment))).status).toBe(409);
    // The reference of another resource is invalid for this one.
    const [unspent, spent] = [presentV2(challenge, createPayment()), presentV2(challenge, createPayment())];
    await get('/api/weather', spent);
    for (const headers of [unspent, spent]) {
      const elsewhere = await get('/other', headers);
      expect([elsewhere.status, elsewhere.headers.get('x-payment-failure')]).toEqual([402, 'unknown_reference']);
    }
  });
});

describe('a settlement', () => {
  const differs = { outcome: 'unavailable', reason: 'settings_differ', settings: 'others' } as const;

  it.each([
    ['may be under way when a verifier with other settings answers a copy of its question', 600, 'settlement_pending'],
    ['is not begun by a verifier with other settings', 0, 'verification_unavailable'],
  ])('%s', async (_, afterMs, code) => {
    const payment = createPayment();
    relay.settlements.set(payment.authorization.nonce, () => sleep(afterMs, differs));
    const response = await fetch(`${hasty.url}/api/weather`, { headers: presentV1(payment) });
    expect([response.status, await response.json()]).toMatchObject([503, { code }]);
  });
});

describe('a resource that fails', () => {
  it('on a route that settles first is requested again for the settled payment', async () => {
    produce = () => answerJson({ error: 'no' }, 500);
    const payment = createPayment();
    const failed = await get('/first', presentV1(payment));
    expect([failed.status, failed.headers.get('x-payment-released')]).toEqual([500, 'true']);
    produce = () => answerJson({ ok: true });
    const later = await get('/first', presentV1(payment));
    expect([later.status, settledBefore]).toEqual([200, [1, 1]]);
    expect(relay.asked).toHaveLength(1);
    expect(made[0]?.verification.txHash).toBe(relay.moved.get(payment.authorization.nonce));
  });
});

describe('a settlement', () => {
  it("that fails is refused in the payer's protocol, and the produced response is not sent", async () => {
    const payment = createPayment();
    relay.settlements.set(payment.authorization.nonce, () => ({
      outcome: 'failed',
      failure: 'balance_too_low',
      txHash: null,
    }));
    const headers = presentV2(await readChallenge(url('/api/weather')), payment);
    const response = await get('/api/weather', headers);
    expect([response.status, response.headers.get('x-payment-failure')]).toEqual([402, 'balance_too_low']);
    expect(await response.json()).toMatchObject({ error: 'Payment verification failed', accepts: [{}] });
    expect(readHeader(response, 'payment-required')).toMatchObject({ error: 'invalid_exact_evm_insufficient_balance' });
    expect(readHeader(response, 'payment-response')).toEqual({
      success: false,
      errorReason: 'invalid_exact_evm_insufficient_balance',
      transaction: '',
      network: 'eip155:1328',
    });
    relay.settlements.clear();
    expect((await get('/api/weather', headers)).status).toBe(200);
  });

  it('that fails before the resource is asked causes no work', async () => {
    const payment = createPayment();
    const { nonce } = payment.authorization;
    relay.settlements.set(nonce, () => ({ outcome: 'failed', failure: 'settlement_failed', txHash: null }));
    const response = await get('/first', presentV1(payment));
    expect([response.status, readHeader(response, 'x-payment-response')]).toMatchObject([
      402,
      { success: false, errorReason: 'invalid_transaction_state' },
    ]);
    expect(made).toEqual([]);
  });

  it('without a reply counts as pending', async () => {
    const payment = createPayment();
    relay.settlements.set(payment.authorization.nonce, () => new Promise(() => undefined));
    const response = await fetch(`${hasty.url}/api/weather`, { headers: presentV1(payment) });
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'settlement_pending' }]);
  });
});

// Prevents: the offer changes after a payment was settled, and its payer is asked to pay again.
it.each([
  ['amount_mismatch', 'amount', { value: '7' }],
  ['recipient_mismatch', 'payTo', { to: ASSET }],
] as const)(
  'a payment that was signed for an earlier offer is refused by a verifier: %s',
  async (failure, term, change) => {
    const challenge = await readChallenge(url('/api/weather'));
    const payment = createPayment(change);
    const { from, nonce } = payment.authorization;
    const looked: unknown[] = [];
    relay.looks.set(nonce, ({ terms: { payTo, priceBaseUnits } }) => {
      looked.push([payTo, priceBaseUnits]);
      return { outcome: 'refused', failure, payer: from };
    });
    const [accepted] = Object.values(change);
    const response = await get('/api/weather', presentV2(challenge, payment, { accepted: { [term]: accepted } }));
    expect([response.status, response.headers.get('x-payment-failure')]).toEqual([402, failure]);
    expect(looked).toEqual([[PAY_TO.toLowerCase(), '1000']]);
  },
);

describe('a payment that is refused without asking a verifier', () => {
  const refused = async (headers: Record<string, string>) => {
    const response = await get('/api/weather', headers);
    expect([made.length, relay.asked.length]).toEqual([0, 0]);
    return [response.status, response.headers.get('x-payment-failure')];
  };

  it('is one of several payments in a request', async () => {
    const challenge = await readChallenge(url('/api/weather'));
    const [v1, v2] = [presentV1(createPayment()), presentV2(challenge, createPayment())];
    const mpp = presentMpp(challenge, createMppPayment(challenge));
    const [inV1, inV2, inMpp] = [v1, v2, mpp].map((headers) => Object.entries(headers)[0]) as Line[] as [
      Line,
      Line,
      Line,
    ];
    const apart: Line = ['Payment-Authorization', inMpp[1]];
    for (const lines of [
      [inV1, inV2],
      [inV2, inMpp],
      [inV1, inMpp],
      [inV1, apart],
      [inV2, apart],
      [inMpp, apart],
      [inMpp, inMpp],
      [apart, apart],
      [inV1, inV1],
      [inV2, inV2],
      [['Authorization', `${inMpp[1]}, ${inMpp[1]}`]],
    ] as Line[][]) {
      const { statusCode, body } = await getRaw('/api/weather', lines);
      expect([statusCode, JSON.parse(body)]).toMatchObject([400, { code: 'payment_ambiguous' }]);
    }
  });

  it.each([
    ['wrong_scheme', { scheme: 'upto' }],
    ['wrong_network', { network: 'eip155:1' }],
    ['asset_mismatch', { asset: PAY_TO }],
    ['recipient_mismatch', { payTo: ASSET }],
    ['amount_mismatch', { amount: '1' }],
  ])('accepts requirements that were not offered: %s', async (failure, accepted) => {
    const challenge = await readChallenge(url('/api/weather'));
    expect(await refused(presentV2(challenge, createPayment(), { accepted }))).toEqual([402, failure]);
  });

  it.each([
    ['realm', { realm: 'evil.example' }],
    ['request', { request: Buffer.from('{"amount":"1"}').toString('base64url') }],
    ['expires', { expires: '2999-01-01T00:00:00.000Z' }],
    ['id', { id: 'chain-1-a' }],
  ])('repeats its challenge with another %s', async (_part, changes) => {
    const challenge = await readChallenge(url('/api/weather'));
    expect(await refused(presentMpp(challenge, createMppPayment(challenge), changes))).toEqual([
      402,
      'unknown_reference',
    ]);
  });

  it('has an authorization that is not bound to its challenge', async () => {
    const challenge = await readChallenge(url('/api/weather'));
    expect(await refused(presentMpp(challenge, createPayment()))).toEqual([402, 'not_bound']);
  });

  it.each([
    ['not base64', 'Payment %%%'],
    ['an empty object', `Payment ${Buffer.from('{}').toString('base64url')}`],
  ])('has a credential that is %s', async (_case, Authorization) => {
    expect(await refused({ Authorization })).toEqual([402, 'malformed_proof']);
  });
});

describe('a payment identifier', () => {
  const id = () => `pay_${Math.random().toString(36).slice(2).padEnd(16, '0')}`;
  const present = async (name: unknown, payment = createPayment()) =>
    presentV2(await readChallenge(url('/api/weather')), payment, { id: name });

  it('prevents a payer that lost the response and signs again from paying twice', async () => {
    const name = id();
    const payment = createPayment();
    const headers = await present(name, payment);
    expect((await get('/api/weather', headers)).status).toBe(200);
    const { from } = payment.authorization;
    const anew = await get('/api/weather', await present(name, createPayment({ from })));
    expect([anew.status, await anew.json()]).toMatchObject([409, { code: 'payment_identifier_reused' }]);
    const again = await get('/api/weather', headers);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect([made.length, relay.asked.length]).toEqual([1, 1]);
  });

  it('can be used again by a payer that was not charged, and is kept while that is unknown', async () => {
    const [name, { authorization }] = [id(), createPayment()];
    const { from } = authorization;
    const failing = createPayment({ from });
    relay.settlements.set(failing.authorization.nonce, () => ({
      outcome: 'failed',
      failure: 'settlement_failed',
      txHash: null,
    }));
    expect((await get('/api/weather', await present(name, failing))).status).toBe(402);
    const pending = createPayment({ from });
    relay.settlements.set(pending.authorization.nonce, () => ({ outcome: 'pending', txHash: null }));
    expect((await get('/api/weather', await present(name, pending))).status).toBe(503);
    expect((await get('/api/weather', await present(name, createPayment({ from })))).status).toBe(409);
  });

  // Prevents: a payer whose response failed on a route that settles first signs again and pays twice.
  it('is kept for a payment that was settled before its response failed', async () => {
    const [name, payment] = [id(), createPayment()];
    const { from } = payment.authorization;
    const offer = await readChallenge(url('/first'));
    produce = () => answerJson({ error: 'no' }, 500);
    expect((await get('/first', presentV2(offer, payment, { id: name }))).status).toBe(500);
    produce = () => answerJson({ sold: true });
    expect((await get('/first', presentV2(offer, createPayment({ from }), { id: name }))).status).toBe(409);
    expect((await get('/first', presentV2(offer, payment, { id: name }))).status).toBe(200);
    expect(new Set(relay.asked.map((asked) => asked.payment.signature))).toEqual(new Set([payment.signature]));
  });

  // Prevents: a pending settlement is forgotten because a later response fails, and another payment is settled too.
  it('is kept while an earlier settlement may be pending, whatever the next response is', async () => {
    const [name, payment] = [id(), createPayment()];
    const { from, nonce } = payment.authorization;
    relay.settlements.set(nonce, () => ({ outcome: 'pending', txHash: null }));
    const headers = await present(name, payment);
    expect((await get('/api/weather', headers)).status).toBe(503);
    produce = () => answerJson({ error: 'no' }, 500);
    expect((await get('/api/weather', headers)).status).toBe(500);
    produce = () => answerJson({ sold: true });
    expect((await get('/api/weather', await present(name, createPayment({ from })))).status).toBe(409);
    relay.settlements.clear();
    expect((await get('/api/weather', headers)).status).toBe(200);
  });

  it('can be used again if the first response fails and nothing was settled', async () => {
    const [name, { authorization }] = [id(), createPayment()];
    const { from } = authorization;
    produce = () => answerJson({ error: 'no' }, 500);
    expect((await get('/api/weather', await present(name, createPayment({ from })))).status).toBe(500);
    produce = () => answerJson({ sold: true });
    expect((await get('/api/weather', await present(name, createPayment({ from })))).status).toBe(200);
  });

  it('of one payer does not affect another', async () => {
    const name = id();
    expect((await get('/api/weather', await present(name))).status).toBe(200);
    expect((await get('/api/weather', await present(name))).status).toBe(200);
  });

  it.each(['short', 'x'.repeat(129), 'with spaces in it!', 7])('is refused if it is invalid: %j', async (name) => {
    const response = await get('/api/weather', await present(name));
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'payment_identifier_invalid' }]);
  });
});

type Line = readonly [name: string, value: string];

/** Sends the lines as they are: `fetch` would join those of one name. */
async function getRaw(path: string, lines: readonly Line[]) {
  const headers = ['Host', new URL(gateway.url).host, ...lines.flat()];
  const [response] = (await once(request(url(path), { headers }).end(), 'response')) as [IncomingMessage];
  return { statusCode: response.statusCode, headers: response.headers, body: await text(response) };
}

async function readMpp(): Promise<{ Authorization: string }> {
  const challenge = await readChallenge(url('/api/weather'));
  return presentMpp(challenge, createMppPayment(challenge));
}
