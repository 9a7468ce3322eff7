import type { Lease } from '@tollgate/ledger';
import { createSignInMessage, encodeJsonHeader, type Hex } from '@tollgate/protocol';
import { connectRedis } from '@tollgate/redis';
import { Redis } from 'ioredis';
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';

import { startTcpProxy } from '../../../../../test/harness/network/tcp-proxy.js';
import { borrowRedis, type BorrowedRedis } from '../../../../../test/harness/stack/borrow-redis.js';
import { startRedis } from '../../../../../tools/devnet/processes/redis.js';
import { createPayment, presentV2, readChallenge, readHeader } from '../../../test/present-payments.js';
import {
  answerJson,
  createRoute,
  SECRET,
  send,
  startGateway,
  type RunningGateway,
  startAgreeingVerifier,
} from '../../../test/start-gateway.js';
import { startRelay, type Relay } from '../../../test/start-relay.js';
import { SignInNonces } from '../offer/sign-in-nonces.js';
import type { ProducedAnswer, ResourceRequest } from '../route/paid-route.js';
import { Revisits } from './revisits.js';

const PUBLIC_URL = 'https://shop.example/gate';

interface SignInOffer {
  readonly info: Record<'domain' | 'uri' | 'nonce' | 'issuedAt' | 'expirationTime' | 'version', string> & {
    readonly resources: readonly string[];
  };
  readonly supportedChains: readonly { readonly chainId: string; readonly type: string }[];
  readonly schema: object;
}

let redis: BorrowedRedis;
let client: Redis;
let relay: Relay;
let gateway: RunningGateway;
let other: RunningGateway;
let made: ResourceRequest[];
let answer: (request: ResourceRequest) => ProducedAnswer;

const produce = (request: ResourceRequest): ProducedAnswer => {
  made.push(request);
  return answer(request);
};

beforeAll(async () => {
  redis = await borrowRedis();
  client = new Redis(redis.url);
  relay = await startRelay(redis.url);
  const routes = [
    createRoute(produce, { revisitSeconds: 600 }),
    createRoute(produce, { path: '/v1/quotes/:symbol', revisitSeconds: 600 }),
    createRoute(produce, { path: '/plain' }),
  ];
  const env = { SIGNED_PAYMENTS: 'true', CHALLENGE_SECRET: SECRET };
  gateway = await startGateway(redis.url, routes, { ...env, PUBLIC_URL });
  other = await startGateway(redis.url, routes, { ...env, PUBLIC_URL: 'https://other.example' });
});
afterAll(async () => {
  await gateway.stop();
  await other.stop();
  await relay.stop();
  client.disconnect();
  await redis.stop();
});
beforeEach(() => {
  made = [];
  answer = () => answerJson({ visit: made.length });
  relay.asked.length = 0;
});

const newcomer = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());
const get = (path: string, headers: Record<string, string> = {}, at = gateway) => fetch(at.url + path, { headers });
const failureOf = (response: Response) => [response.status, response.headers.get('x-sign-in-failure')];

async function readOffer(path: string, at = gateway): Promise<SignInOffer> {
  const { extensions } = (await readChallenge(at.url + path)).required;
  return extensions?.['sign-in-with-x'] as SignInOffer;
}

/** Signs in as published clients do. `changes` alters the presented fields, `signed` the signed ones. */
async function signIn(
  account: PrivateKeyAccount,
  offer: SignInOffer,
  { changes = {}, signed = {} }: { changes?: object; signed?: object } = {},
): Promise<{ 'SIGN-IN-WITH-X': string }> {
  const { info, supportedChains } = offer;
  const [{ chainId, type } = { chainId: '', type: '' }] = supportedChains;
  const message = createSignInMessage({ ...info, network: chainId, ...signed }, account.address);
  const signature = await account.signMessage({ message });
  const { address } = account;
  return { 'SIGN-IN-WITH-X': encodeJsonHeader({ ...info, address, chainId, type, signature, ...changes }) };
}

async function pay(account: PrivateKeyAccount, path: string): Promise<void> {
  const payment = createPayment({ from: account.address.toLowerCase() as Hex });
  const response = await get(path, presentV2(await readChallenge(gateway.url + path), payment));
  expect(response.status).toBe(200);
}

async function payer(path = '/api/weather'): Promise<PrivateKeyAccount> {
  const account = newcomer();
  await pay(account, path);
  return account;
}

describe('the challenge of a route that may be revisited', () => {
  it('asks for a sign-in as published servers do', async () => {
    const { info, supportedChains, schema } = await readOffer('/api/weather');
    const uri = `${PUBLIC_URL}/api/weather`;
    expect(info).toEqual({
      domain: 'shop.example',
      uri,
      version: '1',
      resources: [uri],
      nonce: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      issuedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      expirationTime: new Date(Date.parse(info.issuedAt) + 300_000).toISOString(),
    });
    expect(supportedChains).toEqual([{ chainId: 'eip155:1328', type: 'eip191' }]);
    expect(schema).toMatchObject({ type: 'object' });
    expect((await readOffer('/api/weather')).info.nonce).not.toBe(info.nonce);
  });

  it('is otherwise that of any other route', async () => {
    const [revisited, plain] = [await fetch(`${gateway.url}/api/weather`), await fetch(`${gateway.url}/plain`)];
    const [body, other] = [await revisited.json(), await plain.json()].map((one) => {
      const { accepts } = one as { accepts: { resource: string; extra: object }[] };
      return { ...(one as object), accepts: accepts.map((terms) => ({ ...terms, resource: '', extra: '' })) };
    });
    expect(body).toEqual(other);
    expect(readHeader(plain, 'payment-required').extensions).not.toHaveProperty('sign-in-with-x');
    const { extensions, accepts } = readHeader(revisited, 'payment-required') as Record<string, object>;
    expect(extensions).toHaveProperty('payment-identifier');
    expect(accepts).toHaveLength(1);
  });
});

describe('a payer that returns', () => {
  it('gets a new response for each signature', async () => {
    answer = () => {
      const { headers, ...produced } = answerJson({ visit: made.length });
      return { ...produced, headers: [...headers, ['cache-control', 'public, no-cache']] };
    };
    const account = await payer();
    for (const visit of [2, 3]) {
      const response = await get('/api/weather', await signIn(account, await readOffer('/api/weather')));
      expect([response.status, await response.json()]).toEqual([200, { visit }]);
      expect(response.headers.get('cache-control')).toBe('private, no-cache');
      expect(response.headers.has('idempotent-replayed')).toBe(false);
    }
    expect(relay.asked).toHaveLength(1);
    expect(new Set(made.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    for (const { headers } of made) expect(headers).not.toHaveProperty('sign-in-with-x');
  });

  it('may use any spelling of the path that asks the upstream for the same', async () => {
    const account = await payer('/v1/quotes/SEI');
    for (const [spelling, status] of [
      ['/v1//quotes/SEI', 200],
      ['/V1/%71uotes/SEI', 200],
      ['/v1/quotes/%53EI', 402],
      ['/v1/quotes/SEI/', 402],
    ] as const) {
      const headers = await signIn(account, await readOffer('/v1/quotes/SEI'));
      const response = await send(gateway.port, { path: spelling, headers });
      expect([spelling, response.status]).toEqual([spelling, status]);
    }
  });

  it('can use each sign-in once, even with twenty concurrent requests', async () => {
    const headers = await signIn(await payer(), await readOffer('/api/weather'));
    const responses = await Promise.all(Array.from({ length: 20 }, () => get('/api/weather', headers)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = responses.filter(({ status }) => status === 402).map(failureOf);
    expect(refused).toEqual(Array.from({ length: 19 }, () => [402, 'nonce_used']));
    expect(made).toHaveLength(2);
  });

  it('may be a contract, which is called to verify its signature', async () => {
    const [wallet, owner] = [await payer(), newcomer()];
    const { address } = wallet;
    const headers = await signIn({ ...owner, address }, await readOffer('/api/weather'));
    expect(failureOf(await get('/api/weather', headers))).toEqual([402, 'not_paid']);
    relay.contracts.set(address.toLowerCase(), { outcome: 'unavailable', reason: 'rpc_timeout' });
    const unknown = await get('/api/weather', headers);
    expect([unknown.status, await unknown.json()]).toMatchObject([503, { code: 'verification_unavailable' }]);
    relay.contracts.set(address.toLowerCase(), { outcome: 'signed' });
    expect((await get('/api/weather', headers)).status).toBe(200);
    expect(failureOf(await get('/api/weather', headers))).toEqual([402, 'nonce_used']);
  });

  it('can revisit until the period ends', async () => {
    const account = await payer();
    const [key = ''] = (await client.keys('tollgate:revisit:*')).slice(0, 1);
    expect(await client.pttl(key)).toBeGreaterThan(0);
    expect(await client.pttl(key)).toBeLessThanOrEqual(600_000);
    await client.del(...(await client.keys('tollgate:revisit:*')));
    const response = await get('/api/weather', await signIn(account, await readOffer('/api/weather')));
    expect(failureOf(response)).toEqual([402, 'not_paid']);
  });

  it('gets the failure of a resource unchanged, and may return again', async () => {
    const account = await payer();
    answer = () => answerJson({ error: 'no' }, 500);
    const failed = await get('/api/weather', await signIn(account, await readOffer('/api/weather')));
    expect([failed.status, failed.headers.has('x-payment-released')]).toEqual([500, false]);
    answer = () => {
      throw new Error('broken');
    };
    const broken = await get('/api/weather', await signIn(account, await readOffer('/api/weather')));
    expect([broken.status, await broken.json()]).toMatchObject([500, { code: 'resource_failed' }]);
    answer = () => answerJson({ x402Version: 1 }, 402);
    const foreign = await get('/api/weather', await signIn(account, await readOffer('/api/weather')));
    expect([foreign.status, await foreign.json()]).toMatchObject([502, { code: 'upstream_failed' }]);
    answer = () => answerJson({ ok: true });
    expect((await get('/api/weather', await signIn(account, await readOffer('/api/weather')))).status).toBe(200);
  });

  // Regression: the right to come back outlived the refund.
  it.each(['was answered', 'was settled, but not committed'])(
    'can no longer revisit once its payment, which %s, is closed for a refund',
    async (before) => {
      const account = newcomer();
      const payment = createPayment({ from: account.address.toLowerCase() as Hex });
      const { nonce } = payment.authorization;
      let lease: Lease | undefined;
      relay.looks.set(nonce, async (request) => {
        const verdict = await relay.claim(request);
        if (verdict.outcome === 'claimed') ({ lease } = verdict);
        return verdict;
      });
      if (before !== 'was answered') {
        relay.settlements.set(nonce, async (request) => {
          await relay.ledger.release(lease!, { counted: false });
          return relay.settle(request);
        });
      }
      const bought = await get('/api/weather', presentV2(await readChallenge(`${gateway.url}/api/weather`), payment));
      expect(bought.status).toBe(before === 'was answered' ? 200 : 409);
      const revisit = async () => get('/api/weather', await signIn(account, await readOffer('/api/weather')));
      expect((await revisit()).status).toBe(200);
      const refund = { refund: 'refund-1', reason: null, allowsAnswered: true };
      expect(await relay.ledger.close({ ...refund, id: lease!.id })).toMatchObject({ outcome: 'closed' });
      expect(failureOf(await revisit())).toEqual([402, 'not_paid']);
    },
  );

  it('can revisit by one of two payments until both are closed for a refund', async () => {
    const account = newcomer();
    const leases: Lease[] = [];
    for (let paid = 0; paid < 2; paid++) {
      const payment = createPayment({ from: account.address.toLowerCase() as Hex });
      relay.looks.set(payment.authorization.nonce, async (request) => {
        const verdict = await relay.claim(request);
        if (verdict.outcome === 'claimed') leases.push(verdict.lease);
        return verdict;
      });
      const bought = await get('/api/weather', presentV2(await readChallenge(`${gateway.url}/api/weather`), payment));
      expect(bought.status).toBe(200);
    }
    const answers: unknown[] = [];
    for (const { id } of leases.reverse()) {
      await relay.ledger.close({ refund: 'refund-1', reason: null, allowsAnswered: true, id });
      answers.push(failureOf(await get('/api/weather', await signIn(account, await readOffer('/api/weather')))));
    }
    expect(answers).toEqual([
      [200, null],
      [402, 'not_paid'],
    ]);
  });

  it('is charged if it pays again, and its sign-in is ignored', async () => {
    const account = newcomer();
    const challenge = await readChallenge(`${gateway.url}/api/weather`);
    const payment = createPayment({ from: account.address.toLowerCase() as Hex });
    const headers = { ...presentV2(challenge, payment), 'SIGN-IN-WITH-X': 'nonsense' };
    expect((await get('/api/weather', headers)).status).toBe(200);
    expect(relay.asked).toHaveLength(1);
  });
});

describe('a refused sign-in', () => {
  it('gets the ordinary challenge with the reason', async () => {
    const response = await get('/api/weather', await signIn(newcomer(), await readOffer('/api/weather')));
    expect(failureOf(response)).toEqual([402, 'not_paid']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.has('x-payment-failure')).toBe(false);
    expect(await response.json()).not.toHaveProperty('error');
    expect(readHeader(response, 'payment-required')).not.toHaveProperty('error');
    const malformed = await get('/api/weather', { 'SIGN-IN-WITH-X': 'nonsense' });
    expect(failureOf(malformed)).toEqual([402, 'malformed_sign_in']);
    expect(readHeader(malformed, 'payment-required')).toMatchObject({ error: 'invalid_siwx_payload' });
    expect(made).toEqual([]);
  });

  it('can be followed by a payment for that challenge', async () => {
    const account = newcomer();
    const response = await get('/api/weather', await signIn(account, await readOffer('/api/weather')));
    const required = readHeader(response, 'payment-required') as never;
    const payment = createPayment({ from: account.address.toLowerCase() as Hex });
    expect((await get('/api/weather', presentV2({ required }, payment))).status).toBe(200);
    const back = await get('/api/weather', await signIn(account, await readOffer('/api/weather')));
    expect(back.status).toBe(200);
  });

  it('is for another resource, although the same account paid for both', async () => {
    const account = await payer();
    await pay(account, '/v1/quotes/SEI?full=1');
    const elsewhere = await signIn(account, await readOffer('/api/weather'));
    expect(failureOf(await get('/v1/quotes/SEI?full=1', elsewhere))).toEqual([402, 'uri_mismatch']);
    expect(failureOf(await get('/v1/quotes/BTC', await signIn(account, await readOffer('/v1/quotes/BTC'))))).toEqual([
      402,
      'not_paid',
    ]);
    const query = await get('/v1/quotes/SEI?full=2', await signIn(account, await readOffer('/v1/quotes/SEI')));
    expect(failureOf(query)).toEqual([402, 'not_paid']);
    const same = await get('/v1/quotes/SEI?full=1', await signIn(account, await readOffer('/v1/quotes/SEI')));
    expect(same.status).toBe(200);
  });

  it('is signed by an account other than it states, and does not reveal which account has paid', async () => {
    const [account, thief] = [await payer(), newcomer()];
    const { address } = account;
    const headers = await signIn(thief, await readOffer('/api/weather'), { changes: { address } });
    expect(failureOf(await get('/api/weather', headers))).toEqual([402, 'not_paid']);
    expect(made).toHaveLength(1);
  });

  it('is for another shop, although both share one Redis and one secret', async () => {
    const account = await payer();
    const foreign = await signIn(account, await readOffer('/api/weather', other));
    expect(failureOf(await get('/api/weather', foreign))).toEqual([402, 'domain_mismatch']);
    const there = await get('/api/weather', foreign, other);
    expect(failureOf(there)).toEqual([402, 'not_paid']);
  });

  it('names another host, whatever host the request was sent to', async () => {
    const account = await payer();
    const offer = await readOffer('/api/weather');
    const headers = await signIn(account, offer, { changes: { domain: 'evil.example' } });
    const response = await send(gateway.port, { path: '/api/weather', headers: { ...headers, Host: 'evil.example' } });
    expect([response.status, response.headers['x-sign-in-failure']]).toEqual([402, 'domain_mismatch']);
  });

  it.each<[string, object, string]>([
    ['domain', { domain: 'evil.example' }, 'domain_mismatch'],
    ['uri', { uri: 'https://shop.example/gate/API/weather' }, 'uri_mismatch'],
    ['chain', { chainId: 'eip155:1' }, 'chain_mismatch'],
    ['chain of another kind', { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, 'chain_mismatch'],
    ['nonce of its own', { nonce: 'ab'.repeat(32) }, 'nonce_unknown'],
    ['empty nonce', { nonce: '' }, 'nonce_unknown'],
    ['different time', { issuedAt: '2999-01-01T00:00:00.000Z' }, 'nonce_unknown'],
    ['invalid time', { issuedAt: 'now' }, 'nonce_unknown'],
    ['missing signature', { signature: undefined }, 'malformed_sign_in'],
    ['signature that no contract accepts', { signature: `0x${'12'.repeat(66)}` }, 'not_paid'],
    ['signature off the curve', { signature: `0x${'ff'.repeat(65)}` }, 'not_paid'],
    ['malformed address', { address: 'me' }, 'malformed_sign_in'],
  ])('has a %s', async (_, changes, failure) => {
    const account = await payer();
    const headers = await signIn(account, await readOffer('/api/weather'), { changes });
    expect(failureOf(await get('/api/weather', headers))).toEqual([402, failure]);
    expect(made).toHaveLength(1);
  });

  it.each<[string, object]>([
    ['another host', { domain: 'evil.example' }],
    ['another resource', { uri: 'https://shop.example/gate/plain' }],
    ['a longer time', { expirationTime: '2999-01-01T00:00:00.000Z' }],
    ['another chain', { network: 'eip155:1' }],
  ])('was signed for %s', async (_, signed) => {
    const headers = await signIn(await payer(), await readOffer('/api/weather'), { signed });
    expect(failureOf(await get('/api/weather', headers))).toEqual([402, 'not_paid']);
  });

  it('is too old', async () => {
    const account = await payer();
    const offer = await readOffer('/api/weather');
    const issuedAt = new Date(Date.now() - 301_000).toISOString();
    const nonce = new SignInNonces([SECRET]).create(offer.info.uri, issuedAt);
    const info = { ...offer.info, issuedAt, nonce, expirationTime: new Date(Date.now() - 1_000).toISOString() };
    const headers = await signIn(account, { ...offer, info });
    expect(failureOf(await get('/api/weather', headers))).toEqual([402, 'sign_in_expired']);
  });

  it('is huge or sent twice', async () => {
    const huge = await get('/api/weather', { 'SIGN-IN-WITH-X': 'A'.repeat(9_000) });
    expect(failureOf(huge)).toEqual([402, 'malformed_sign_in']);
    const { 'SIGN-IN-WITH-X': one } = await signIn(await payer(), await readOffer('/api/weather'));
    const twice = await send(gateway.port, { path: '/api/weather', headers: { 'SIGN-IN-WITH-X': [one, one] } });
    expect([twice.status, twice.headers['x-sign-in-failure']]).toEqual([402, 'malformed_sign_in']);
    const endless = await send(gateway.port, {
      path: '/api/weather',
      headers: { 'SIGN-IN-WITH-X': 'A'.repeat(20_000) },
    });
    expect(endless.status).toBe(431);
  });

  it('is ignored by a route that cannot be revisited, and for HEAD', async () => {
    const account = await payer('/plain');
    const headers = await signIn(account, await readOffer('/api/weather'));
    expect(failureOf(await get('/plain', headers))).toEqual([402, null]);
    const head = await fetch(`${gateway.url}/api/weather`, { method: 'HEAD', headers });
    expect([head.status, await head.text()]).toEqual([402, '']);
    expect(made).toHaveLength(1);
  });
});

describe.each(['is gone', 'hangs'])('while Redis %s', (trouble) => {
  it('payments cannot be looked up: 503, and neither a response nor a challenge', async () => {
    const own = await startRedis();
    const stopVerifier = await startAgreeingVerifier(own.url);
    const alone = await startGateway(own.url, [createRoute(produce, { revisitSeconds: 600 })], {
      SIGNED_PAYMENTS: 'true',
      PUBLIC_URL,
    });
    try {
      const headers = await signIn(newcomer(), await readOffer('/api/weather', alone));
      expect(failureOf(await get('/api/weather', headers, alone))).toEqual([402, 'not_paid']);
      if (trouble === 'hangs') own.signal('SIGSTOP');
      else await own.kill();
      const response = await get('/api/weather', headers, alone);
      expect([response.status, await response.json()]).toMatchObject([503, { code: 'verification_unavailable' }]);
      expect(response.headers.has('retry-after')).toBe(true);
      expect(made).toEqual([]);
    } finally {
      if (trouble === 'hangs') own.signal('SIGCONT');
      else await own.start();
      await alone.stop();
      await stopVerifier();
      await own.stop();
    }
  });
});

it('takes a nonce once, also when the reply is lost and the driver sends the command again', async () => {
  const proxy = await startTcpProxy(redis.port);
  const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
  const connection = connectRedis({ url: `redis://127.0.0.1:${proxy.port}`, role: 'revisits', logger });
  const revisits = new Revisits(connection, PUBLIC_URL);
  const answered = proxy.holdRepliesTo('sign-in-nonce');
  const taken = revisits.takeNonce('lost');
  await answered;
  proxy.release();
  expect(await taken).toBe(true);
  expect(await revisits.takeNonce('lost')).toBe(false);
  connection.disconnect();
  await proxy.stop();
});
