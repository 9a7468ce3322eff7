import { randomBytes } from 'node:crypto';

import { requestHead, sendRaw } from '../harness/network/raw-http.js';
import { createProof, outcomeOf, payLocked, readRequirement } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';
import { retryUntilPaid } from '../harness/retry.js';

const CHALLENGE_SECRET = `canary-of-the-challenges-${randomBytes(16).toString('hex')}`;
const RPC_KEY = `canary-of-the-rpc-${randomBytes(8).toString('hex')}`;
const KEY = `canary-of-the-payer-${randomBytes(8).toString('hex')}`;
const QUOTE = '/v1/quotes/A';

/** Canaries: searches everything that the services print and answer, at every log level, for the secrets. */
describe('the secrets of the services', () => {
  let shop: Shop;
  const seen: string[] = [];
  const canaries = new Set([CHALLENGE_SECRET, RPC_KEY, KEY]);

  beforeAll(async () => {
    shop = await startShop({
      rpcPath: `/v2/${RPC_KEY}?apikey=${RPC_KEY}`,
      env: {
        CHALLENGE_SECRET,
        LOG_LEVEL: 'trace',
        LOG_UNPAID: 'true',
        // Long enough for healthy services on a busy machine; and no question is sent twice.
        RPC_TIMEOUT_MS: '3000',
        VERIFY_DEADLINE_MS: '15000',
        VERIFY_RETRY_MS: '14000',
        RECEIPT_WAIT_MS: '0',
      },
    });
  });
  afterAll(() => shop?.stop());

  const redeem = async (proof: string, path = QUOTE, init: RequestInit = {}) => {
    canaries.add(proof);
    const headers = { 'X-Payment': proof, 'Idempotency-Key': KEY, Authorization: `Bearer ${KEY}`, Cookie: `s=${KEY}` };
    const response = await fetch(shop.url(path), { ...init, headers });
    const text = await response.clone().text();
    seen.push([...response.headers].join('\n'), text);
    return response;
  };

  it('appear in no log, no answer and no metric, in success or failure', async () => {
    const paid = await payLocked(shop.chain, shop.url(QUOTE));
    const refused = createProof(`0x${randomBytes(32).toString('hex')}`, {
      reference: (await readRequirement(shop.url(QUOTE))).extra.reference,
      signature: `0x${randomBytes(65).toString('hex')}`,
    });
    // Valid: paid, replayed. Invalid: another request, no receipt, no proof, too large.
    expect(await outcomeOf(redeem(paid.proof))).toEqual([200, null]);
    expect(await outcomeOf(redeem(paid.proof))).toEqual([200, null]);
    expect((await redeem(paid.proof, `${QUOTE}?other`)).status).toBe(409);
    expect((await redeem(refused)).status).toBe(402);
    expect((await redeem(`canary-that-is-no-proof-${KEY}`)).status).toBe(402);
    expect((await redeem(Buffer.from(`{"payload":"${KEY}"}`).toString('base64'))).status).toBe(402);
    const raw = [
      requestHead(QUOTE, [`X-Payment: ${KEY.repeat(600)}`]),
      requestHead(QUOTE, [`X-Payment: ${paid.proof}`, 'Content-Length: 1', 'Transfer-Encoding: chunked'], 'POST'),
      Buffer.from(`GET /${KEY} HTTP/9.9\r\nX-Payment: ${paid.proof}\r\n\r\n`),
    ];
    for (const bytes of raw) seen.push((await sendRaw(shop.stack.baseUrl, bytes)).text);

    // The RPC server fails in every way.
    const { proof } = await payLocked(shop.chain, shop.url(QUOTE));
    for (const fault of [
      { kind: 'hang' } as const,
      { kind: 'reset' } as const,
      { kind: 'status', status: 401 } as const,
      { kind: 'body', text: `invalid key ${RPC_KEY}` } as const,
    ]) {
      shop.rpc.fail(fault);
      expect((await redeem(proof)).status).toBe(503);
    }
    shop.rpc.fail(undefined);
    // The upstream fails, then Redis goes down and comes back.
    shop.upstream.answer = (_, response) => void response.socket?.destroy();
    expect((await redeem(proof)).status).toBe(502);
    await shop.stack.redis.kill();
    expect((await redeem(proof)).status).toBe(503);
    seen.push(await (await fetch(shop.url('/health/ready'))).text());
    await shop.stack.redis.start();
    shop.upstream.answer = (_, response) => response.end('well');
    await retryUntilPaid(() => redeem(proof));

    const [verifier] = shop.stack.verifiers;
    for (const url of [shop.url('/metrics'), `${verifier!.url}/metrics`]) seen.push(await (await fetch(url)).text());
    const logs = [...shop.stack.gateways, ...shop.stack.verifiers].map((service) => service.logs()).join('\n');
    // The logs are not empty: they report these events.
    expect(logs).toContain('payment refused');
    expect(logs).toContain('answered: replayed');
    for (const canary of canaries) {
      expect(seen.filter((text) => text.includes(canary))).toEqual([]);
      expect(logs.split('\n').filter((line) => line.includes(canary))).toEqual([]);
    }
  });

  it('are not printed by a process that cannot start', async () => {
    const { startStack } = await import('../../tools/devnet/stack/stack.js');
    const { redis } = shop.stack;
    const wrong = { CHALLENGE_SECRET: 'canary-short', RPC_URL: `ftp://${RPC_KEY}@example.com/${RPC_KEY}` };
    for (const counts of [{ gateways: 0 }, { verifiers: 0 }]) {
      const failure = await startStack({ redis, chain: shop.chain, env: wrong, ...counts }).catch(String);
      expect(failure).toMatch(/cannot start/);
      expect(failure).not.toMatch(/canary/);
    }
  });

  it.each([
    ['gateway', { verifiers: 0 }],
    ['verifier', { gateways: 0 }],
    ['agent-worker', { gateways: 0, verifiers: 0, agentWorkers: 1 }],
    ['bookkeeper', { book: { folder: 'never-opened', signingKey: randomBytes(32).toString('hex') } }],
  ])('are not printed by a %s whose URL of Redis has a password that is not percent-encoded', async (name, counts) => {
    const { startStack } = await import('../../tools/devnet/stack/stack.js');
    const { redis } = shop.stack;
    const env = { REDIS_URL: 'redis://canary-user:canary-word#canary@127.0.0.1:6379' };
    const failure = await startStack({ redis, chain: shop.chain, env, ...counts }).catch(String);
    expect(failure).toMatch(new RegExp(`${name} ended while starting[^]*REDIS_URL cannot be read: .*percent-encode`));
    expect(failure).not.toMatch(/canary/);
  });
});
