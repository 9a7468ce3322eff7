import { Ledger } from '../../libs/ledger/src/index.js';
import { HEAD_AT_BIRTH, sampleTransfer } from '../../libs/ledger/test/sample-payments.js';
import { connectRedis, type RedisClient } from '../../libs/redis/src/connect-redis.js';
import { createRedisUsers } from '../harness/stack/guarded-redis.js';
import { startCluster, type StartedCluster } from './start-cluster.js';

const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };

describe('each user of Redis that writes payments, where replicas must acknowledge', () => {
  const users = createRedisUsers('redis+cluster://127.0.0.1');
  let cluster: StartedCluster | undefined;
  let redis: RedisClient | undefined;

  beforeAll(async () => {
    cluster = await startCluster({ users });
  });

  afterEach(() => {
    redis?.disconnect();
  });

  afterAll(async () => {
    await cluster?.stop();
    users.remove();
  });

  it.each(['gateway', 'gateway-jobs', 'verifier', 'operator', 'bookkeeper'])(
    'closes a payment and reports its refund as %s',
    async (user) => {
      redis = connectRedis({ url: cluster!.urlOf(user), role: user, logger });
      const durability = { replicas: 1, timeoutMs: 30_000 };
      const ledger = new Ledger({
        redis,
        chainIds: [1328],
        durability,
        timeoutMs: 60_000,
        book: { outboxLimit: 1_000 },
      });
      await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
      const { id } = sampleTransfer(ledger);
      const close = { id, refund: 'refund-1', reason: null, allowsAnswered: false };
      expect(await ledger.close(close)).toEqual({ outcome: 'closed', from: 'free' });
      const facts = { transaction: `0x${'cd'.repeat(32)}`, amount: '5', recipient: `0x${'ef'.repeat(20)}` } as const;
      expect(await ledger.recordRefunded(id, { refund: 'refund-1', ...facts })).toBe(true);
      expect(await ledger.close(close)).toMatchObject({ outcome: 'closed_before', paid: ['refund-1'] });
    },
  );
});
