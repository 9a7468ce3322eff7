import { listPayments, listRefusals } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { createProof, outcomeOf, payLocked } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';
import { retryUntilPaid } from '../harness/retry.js';

const QUOTE = '/v1/quotes/A';

/** The fate of payments when the ledger's Redis dies, loses its data, or is replaced by another one. */
describe('when Redis', () => {
  let redisServer: RedisServer;
  let redis: Redis;
  let shop: Shop;

  beforeAll(async () => {
    redisServer = await startRedis();
    redis = new Redis(redisServer.url);
    redis.on('error', () => undefined);
    shop = await startShop({
      redis: redisServer,
      gateways: 2,
      env: { LEASE_MS: '2000', VERIFY_RETRY_MS: '500', VERIFY_DEADLINE_MS: '10000', RECEIPT_WAIT_MS: '0' },
    });
  });

  afterAll(async () => {
    await shop?.stop();
    redis.disconnect();
    await redisServer.stop();
  });

  beforeEach(() => {
    shop.upstream.requests.length = 0;
  });

  const buy = () => payLocked(shop.chain, shop.url(QUOTE));
  const redeem = (proof: string, gateway = 0, key = 'k') =>
    fetch(shop.url(QUOTE, gateway), { headers: { 'X-Payment': proof, 'Idempotency-Key': key } });
  const listed = async () => (await listPayments(redis, { limit: 10_000 })).payments;

  it('is killed and started again under load, each payment buys one answer and none is lost', async () => {
    const payments = [];
    for (let count = 0; count < 60; count++) payments.push(await buy());
    let answered = 0;
    const answers = Promise.all(
      payments.map(async ({ proof }, index) => {
        const answer = await retryUntilPaid(() => redeem(proof, index % 2));
        answered += 1;
        return answer;
      }),
    );
    const crash = async () => {
      for (const share of [0, 20, 40]) {
        while (answered < share) await new Promise((resolve) => setTimeout(resolve, 5));
        await redisServer.kill();
        await redisServer.start();
      }
    };
    const [given] = await Promise.all([answers, crash()]);

    expect(new Set(given.map(({ body }) => body)).size).toBe(payments.length);
    expect(new Set(shop.upstream.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(payments.length);
    expect(new Set((await listed()).map(({ state }) => state))).toEqual(new Set(['answered']));
    expect(await listed()).toHaveLength(payments.length);
    for (const [index, { proof }] of payments.entries()) {
      const again = await redeem(proof, (index + 1) % 2);
      expect([again.status, await again.text()]).toEqual([200, given[index]!.body]);
      expect(await outcomeOf(redeem(proof, 0, 'another'))).toEqual([402, 'payment_used']);
    }
  });

  it('hangs, no payment is answered, and each is answered once Redis continues', async () => {
    const { proof } = await buy();
    redisServer.signal('SIGSTOP');
    const hung = await redeem(proof);
    expect([hung.status, hung.headers.get('Retry-After')]).toEqual([503, '1']);
    expect((await fetch(shop.url(QUOTE))).status).toBe(402);
    redisServer.signal('SIGCONT');
    await retryUntilPaid(() => redeem(proof));
  });

  describe.each([
    ['was flushed', async () => void (await redis.flushall())],
    [
      'was replaced by an empty one',
      async () => {
        await redisServer.kill();
        const { rmSync } = await import('node:fs');
        rmSync(redisServer.dir, { recursive: true });
        const { mkdirSync } = await import('node:fs');
        mkdirSync(redisServer.dir);
        await redisServer.start();
      },
    ],
  ])('%s', (_, lose) => {
    it('earlier payments are refused and recorded, later ones are accepted', async () => {
      const spent = await buy();
      await retryUntilPaid(() => redeem(spent.proof));
      const unspent = await buy();
      const bare = await transferTokens(shop.chain, { amountBaseUnits: 1000n });
      shop.upstream.requests.length = 0;
      await lose();

      for (const proof of [spent.proof, unspent.proof, createProof(bare)]) {
        const { status, failure } = await untilJudged(() => redeem(proof));
        expect([status, failure]).toEqual([402, 'older_than_ledger']);
        expect(await outcomeOf(redeem(proof, 1, 'another'))).toEqual([402, 'older_than_ledger']);
      }
      const recorded = (await listRefusals(redis)).map(({ payment, failure }) => `${payment} ${failure}`);
      expect(recorded.sort()).toEqual(
        [spent.txHash, unspent.txHash, bare].map((txHash) => `tx:1328:${txHash}:0 older_than_ledger`).sort(),
      );
      expect(shop.upstream.requests).toEqual([]);

      const { proof } = await buy();
      expect(await outcomeOf(redeem(proof, 1))).toEqual([200, null]);
      expect(shop.upstream.requests).toHaveLength(1);
    });
  });

  it('refuses writes, no payment is answered, and each is answered once Redis accepts writes again', async () => {
    const { proof } = await buy();
    await redis.config('SET', 'maxmemory', '1');
    const full = await redeem(proof);
    expect([full.status, full.headers.has('X-Payment-Failure')]).toEqual([503, false]);
    await redis.config('SET', 'maxmemory', '0');
    await retryUntilPaid(() => redeem(proof));
  });

  /** The first requests after a loss may find that Redis is still down. */
  async function untilJudged(send: () => Promise<Response>): Promise<{ status: number; failure: string | null }> {
    for (;;) {
      const [status, failure] = await outcomeOf(send());
      if (status !== 503) return { status, failure };
    }
  }
});
