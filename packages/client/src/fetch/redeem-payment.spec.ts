import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

import { startPaidServer, type Interference } from '../../test/paid-server.js';
import { ScriptedGateway } from '../../test/scripted-gateway.js';
import {
  assetOf,
  failureOf,
  useChain,
  useMade,
  useOpened,
  useServer,
  useTransfers,
  walletOf,
} from '../../test/set-up.js';
import type { Wallet } from '../account/wallet.js';
import type { PaymentOptions } from '../sign/payment-options.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

const chain = useChain();
const open = useOpened();
const server = useServer(() => startPaidServer(chain));
let wallet: Wallet;
const store = useMade(() => new MemoryPaymentStore());

const payer = () => chain.accounts[4]!.address;
const transfers = useTransfers(chain, () => payer());
const buy = (change: Partial<PaymentOptions> = {}, url = server.url, init: RequestInit = {}) =>
  fetchWithPayment(fetch, wallet, {
    assets: [assetOf(chain)],
    maxAmount: '0.001',
    store,
    ...change,
  })(url, init);
const stateOf = async () => (await store.list()).map(({ payment }) => payment.state);

const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Interference =>
  (response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
const dropConnection: Interference = (response) => {
  response.destroy();
  return true;
};

beforeAll(async () => {
  wallet = walletOf(chain, chain.accounts[4]!);
});
describe('trying again', () => {
  const soon = { 'Retry-After': '0' };
  it.each<[string, Interference]>([
    ['503 with Retry-After', answer(503, soon)],
    ['503 without', answer(503)],
    ['504', answer(504, soon)],
    ['502 of a released payment', answer(502, { ...soon, 'X-Payment-Released': 'true' })],
    ['425', answer(425, soon)],
    ['409 with Retry-After', answer(409, soon)],
    ['429 with Retry-After', answer(429, soon)],
    ['a receipt the server does not see yet', answer(402, { ...soon, 'X-Payment-Failure': 'receipt_missing' })],
    ['too few confirmations', answer(402, { ...soon, 'X-Payment-Failure': 'not_confirmed' })],
    ['a refusal without a cause', answer(402, soon)],
    ['a dropped connection', dropConnection],
    [
      'an answer that breaks off',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"conditions":');
        setImmediate(() => response.destroy());
        return true;
      },
    ],
  ])('with the same proof and key after %s', async (_case, interference) => {
    server.interfere = [interference, interference];
    const response = await buy({ deadlineMs: 15_000 });
    expect(await response.json()).toEqual({ conditions: 'Clear', number: 1 });
    const paid = server.paid();
    expect(paid).toHaveLength(3);
    expect(new Set(paid.map(({ headers }) => headers['x-payment'])).size).toBe(1);
    expect(new Set(paid.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(await transfers()).toHaveLength(1);
  });

  it('after a server that does not answer in time', async () => {
    server.interfere = [
      async (response) => {
        await once(response, 'close');
        return true;
      },
    ];
    expect((await buy({ attemptTimeoutMs: 1000 })).status).toBe(200);
    expect(server.paid().length).toBeGreaterThan(1);
    expect(await transfers()).toHaveLength(1);
  });

  it('after a lost answer gets the stored one', async () => {
    // The server sells the resource, but its answer never arrives.
    server.interfere = [
      (response) => {
        response.end = () => response.destroy();
        return false;
      },
    ];
    const response = await buy();
    expect(response.headers.get('idempotent-replayed')).toBe('true');
    expect(await response.json()).toEqual({ conditions: 'Clear', number: 1 });
  });
});

describe('not trying again', () => {
  it('after an error of the resource: it is returned and the payment stays valid', async () => {
    server.interfere = [answer(500, { 'X-Payment-Released': 'true' }, 'broken')];
    const broken = await buy();
    expect([broken.status, await broken.text()]).toEqual([500, 'broken']);
    expect(await stateOf()).toEqual(['released', 'moved']);
    expect((await buy()).status).toBe(200);
    expect(await transfers()).toHaveLength(1);
  });

  it('after a conflict without Retry-After', async () => {
    server.interfere = [answer(409)];
    expect((await buy()).status).toBe(409);
    expect(server.paid()).toHaveLength(1);
  });

  it('after an error that was charged and is repeated: it ends the payment', async () => {
    server.interfere = [answer(404, { 'Idempotent-Replayed': 'true' })];
    expect((await buy()).status).toBe(404);
    expect(await stateOf()).toEqual(['redeemed']);
  });

  it('notes the end of a payment although another call has written to it meanwhile', async () => {
    const noting: typeof fetch = async (input, init) => {
      if (new Headers(init?.headers).has('X-Payment')) {
        const { key } = (await store.list())[0]!;
        const { payment, revision } = (await store.read(key))!;
        expect(await store.write(key, payment, revision)).toBe(true);
      }
      return fetch(input, init);
    };
    const assets = [assetOf(chain)];
    const response = await fetchWithPayment(noting, wallet, { assets, maxAmount: '0.001', store })(server.url);
    expect(response.status).toBe(200);
    expect(await stateOf()).toEqual(['redeemed']);
  });

  it('past the deadline: the last answer, or an error when there was none; the payment stays', async () => {
    server.interfere = [answer(503, { 'Retry-After': '30' })];
    expect((await buy({ deadlineMs: 25_000 })).status).toBe(503);
    server.interfere = Array(100).fill(dropConnection);
    expect(await failureOf(buy({ deadlineMs: 1000 }))).toMatchObject({ code: 'payment_unredeemed' });
    server.interfere = [];
    expect((await buy()).status).toBe(200);
    expect(await transfers()).toHaveLength(1);
  });
});

describe('fetch', () => {
  // Prevents: browsers refuse a fetch that is called as a method of another object.
  it('is called without an object', async () => {
    const seen = new Set<unknown>();
    const strict = function (this: unknown, ...request: Parameters<typeof fetch>) {
      seen.add(this);
      return fetch(...request);
    } as typeof fetch;
    const assets = [assetOf(chain)];
    const response = await fetchWithPayment(strict, wallet, { assets, maxAmount: '0.001', store })(server.url);
    expect([response.status, ...seen]).toEqual([200, undefined]);
  });
});

describe('redirects', () => {
  it('of the paid request to another origin are refused, and the proof is not sent there', async () => {
    const other = await open(startPaidServer(chain));
    server.interfere = Array(2).fill(answer(307, { Location: other.url }));
    expect(await failureOf(buy())).toMatchObject({ code: 'redirect_refused' });
    expect(other.seen).toEqual([]);
  });

  // Prevents: a payment that has bought a redirect is refused by each call, and its answer is never seen.
  it.each(['Idempotent-Replayed', 'Payment-Receipt'])(
    'that were bought are followed without the proof when they have %s',
    async (mark) => {
      const other = await open(startPaidServer(chain));
      const target = `${other.origin}/free`;
      server.interfere = [answer(303, { Location: target }), answer(303, { Location: target, [mark]: 'true' })];
      const response = await buy();
      expect([response.status, response.url]).toEqual([200, target]);
      expect(other.seen.map(({ headers }) => [headers['x-payment'], headers['idempotency-key']])).toEqual([
        [undefined, undefined],
      ]);
      expect(await stateOf()).toEqual(['redeemed']);
      server.interfere = [answer(303, { Location: target, [mark]: 'true' })];
      const asIs = await buy({}, server.url, { redirect: 'manual' });
      expect([asIs.status, asIs.headers.get('location')]).toEqual([303, target]);
    },
  );

  it.each(['refuses connections', 'never answers', 'is busy'])(
    'that were bought stay bought while their target %s',
    async (how) => {
      const target = await ScriptedGateway.start();
      try {
        target.answer((response) => (how === 'is busy' ? void response.writeHead(429).end() : undefined));
        const location = how === 'refuses connections' ? 'http://127.0.0.1:1/' : target.url;
        const moved = answer(303, { Location: location, 'Idempotent-Replayed': 'true' }, 'moved');
        // On a busy machine an attempt may take too long, and is repeated.
        server.interfere = Array<Interference>(10).fill(moved);
        const change = how === 'never answers' ? { attemptTimeoutMs: 3000 } : {};
        for (const again of [await buy(change), await buy(change)])
          expect([again.status, await again.text()]).toEqual(how === 'is busy' ? [429, ''] : [303, 'moved']);
        expect([(await transfers()).length, await stateOf()]).toEqual([1, ['signed']]);
      } finally {
        await target.stop();
      }
    },
  );

  it('of the paid request within the origin are followed with the proof, up to a limit', async () => {
    // Asked twice: a redirect that the payment has bought would be marked as repeated.
    server.interfere = Array(2).fill(answer(307, { Location: '/api/weather/now' }));
    expect((await buy()).status).toBe(200);
    expect(server.paid().map(({ url }) => url)).toEqual(['/api/weather', '/api/weather', '/api/weather/now']);
    server.interfere = Array(100).fill(answer(307, { Location: '/api/weather' }));
    expect(await failureOf(buy())).toMatchObject({ code: 'redirect_refused' });
    expect(server.paid().length).toBeLessThan(20);
  });

  it('of the unpaid request to another origin lead to no payment', async () => {
    const other = await open(startPaidServer(chain));
    const front = await open(startPaidServer(chain));
    front.redirectUnpaidTo = other.url;
    const failure = await failureOf(buy({}, front.url));
    expect(failure).toMatchObject({ code: 'redirect_refused' });
    expect(await transfers()).toEqual([]);
  });
});

describe('hostile servers', () => {
  const challengeWith = (body: string): Promise<Record<string, unknown>> => {
    server.answerUnpaidWith = body;
    return failureOf(buy());
  };

  it.each([
    ['ten megabytes', 'x'.repeat(10_000_000)],
    ['JSON nested 10,000 deep', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['a challenge behind __proto__', '{"__proto__":{"x402Version":1,"accepts":[{}]}}'],
  ])('that send %s as a challenge get nothing', async (_case, body) => {
    expect(await challengeWith(body)).toMatchObject({ code: 'malformed_challenge' });
    expect(await transfers()).toEqual([]);
  });

  // Prevents: a server blocks its caller for any length of time with a body that never ends.
  it('that never end a challenge, before or after the payment, are given up', async () => {
    const drip: Interference = (response) => {
      response.writeHead(402, { 'Retry-After': '30' }).write('{');
      return true;
    };
    const gateway = await ScriptedGateway.start();
    try {
      gateway.answer((response) => void response.writeHead(402).write('{'));
      expect(await failureOf(buy({ attemptTimeoutMs: 100 }, gateway.url))).toMatchObject({
        code: 'malformed_challenge',
      });
    } finally {
      await gateway.stop();
    }
    server.interfere = Array<Interference>(100).fill(drip);
    const change = { attemptTimeoutMs: 4000, deadlineMs: 25_000 };
    expect(await failureOf(buy(change))).toMatchObject({ code: 'payment_not_accepted' });
  });

  it('send long answers and event streams that are returned as they arrive', async () => {
    const long = 'x'.repeat(3_000_000);
    server.interfere = [answer(200, {}, long)];
    expect(await (await buy()).text()).toBe(long);
    server.interfere = [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        return true;
      },
    ];
    const stream = await buy();
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: 1\n\n');
    await reader.cancel();
  });
});
