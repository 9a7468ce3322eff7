import { randomUUID } from 'node:crypto';

import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import type { Shop } from '../test/serve-fetch.js';
import { startFacilitator, succeed, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { SHOPS } from '../test/start-shops.js';
import { PaymentGate } from './gate/gate.js';
import { RedisStore } from './redis.js';

describe('a Redis that is unavailable', () => {
  let server: RedisServer;
  let redis: Redis;
  let facilitator: ScriptedFacilitator;
  let shop: Shop;
  const troubles: string[] = [];

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    facilitator = await startFacilitator();
    const gate = new PaymentGate({
      facilitator: { url: facilitator.url },
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      store: new RedisStore(redis, { timeoutMs: 5_000 }),
      onTrouble: ({ message }) => troubles.push(message),
    });
    shop = await SHOPS['express']!(gate, () => ({ body: 'the goods' }));
  });

  afterAll(async () => {
    await shop.stop();
    await facilitator.stop();
    redis.disconnect();
    await server.stop();
  });

  beforeEach(() => {
    facilitator.asked.length = 0;
    facilitator.settle = succeed;
    troubles.length = 0;
  });

  const comeBack = async () => {
    await server.start();
    await redis.ping();
  };
  const get = (headers: Record<string, string> = VERSIONS[1].pay()) => fetch(`${shop.url}/goods`, { headers });

  it('prevents settlements, and is reported to onTrouble', async () => {
    await server.kill();
    const response = await get();
    expect([response.status, await response.json()]).toEqual([503, { error: 'store_unavailable' }]);
    expect([facilitator.asked, troubles.length]).toEqual([[], 1]);
    await comeBack();
  });

  it('does not withhold the response of a settled payment', async () => {
    facilitator.settle = async (question) => {
      await server.kill();
      return succeed(question);
    };
    const response = await get();
    expect([response.status, await response.text()]).toEqual([200, 'the goods']);
    expect(troubles).toHaveLength(1);
    await comeBack();
  });

  // Prevents: a client that has paid gets 409, and then, once its payment counts as used, is asked to pay again.
  it('and has lost the record does not withhold the response either', async () => {
    facilitator.settle = async (question) => {
      await redis.flushall();
      return succeed(question);
    };
    const payment = { ...VERSIONS[1].pay(), 'Idempotency-Key': randomUUID() };
    for (const isReplay of [null, 'true']) {
      const response = await get(payment);
      expect([response.status, await response.text()]).toEqual([200, 'the goods']);
      expect(response.headers.get('idempotent-replayed')).toBe(isReplay);
    }
  });
});
