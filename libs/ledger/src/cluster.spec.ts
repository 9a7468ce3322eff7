import type { Cluster } from 'ioredis';

import { startRedisShards, type RedisShards } from '../../../tools/devnet/processes/redis-shards.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim, sampleTransfer } from '../test/sample-payments.js';
import { createOwner, hashRetryKey } from './create-keys.js';
import { BUCKETS, birthKey } from './keys.js';
import { Ledger } from './ledger.js';
import { transactionEntry } from './payment-id.js';
import { listPayments, showPayments } from './read-payments.js';

describe('a ledger on a Redis cluster', () => {
  let shards: RedisShards;
  let cluster: Cluster;
  let ledger: Ledger;

  beforeAll(async () => {
    shards = await startRedisShards();
    ({ cluster } = shards);
    ledger = new Ledger({ redis: cluster, chainIds: [1328], timeoutMs: 20_000 });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
  });

  afterAll(() => shards.stop());

  it('claims, commits, repeats answers and refuses across all servers', async () => {
    const retryKey = hashRetryKey('x');
    const body = Buffer.from([0, 255, 10, 13]);
    for (let index = 0; index < 100; index++) {
      const request = sampleClaim(ledger, { retryKey });
      const lease = leaseOf(await ledger.claim(request));
      expect(await ledger.renew(lease, 30_000)).toBe(true);
      expect(await ledger.commit(lease, { status: 200, headers: [], body })).toBe(true);
      expect(await ledger.claim({ ...request, owner: createOwner() })).toEqual({ outcome: 'answered', id: lease.id });
      expect((await ledger.readAnswer(lease.id))?.body).toEqual(body);
      await ledger.recordRefusal({ id: lease.id, failure: 'payment_late' });
    }
    const births = await Promise.all(
      Array.from({ length: BUCKETS }, (_, bucket) => cluster.hget(birthKey(bucket, 1328), 'epoch')),
    );
    expect(births.every((epoch) => epoch === '1')).toBe(true);
    const sizes = await Promise.all(cluster.nodes('master').map((node) => node.dbsize()));
    expect(sizes.every((size) => size > 32)).toBe(true);
  });

  it('claims one of several authorizations on different servers', async () => {
    const candidates = Array.from({ length: 6 }, (_, index) =>
      sampleTransfer(ledger, {
        id: {
          kind: 'authorization',
          chainId: 1328,
          asset: `0x${'aa'.repeat(20)}`,
          from: `0x${'bb'.repeat(20)}`,
          nonce: `0x${String(index).repeat(64)}`,
        },
      }),
    );
    for (let taken = 0; taken < 6; taken++) {
      const lease = leaseOf(await ledger.claim(sampleClaim(ledger, { candidates })));
      expect(lease.id).toEqual(candidates[taken]!.id);
      await ledger.commit(lease, null);
    }
    expect((await ledger.claim(sampleClaim(ledger, { candidates }))).outcome).toBe('used');
  });

  it('is listed across all servers', async () => {
    const { id } = leaseOf(await ledger.claim(sampleClaim(ledger)));
    const listed: string[] = [];
    for (let cursor: string | null = '0:0'; cursor !== null;) {
      const page: Awaited<ReturnType<typeof listPayments>> = await listPayments(cluster, { cursor, limit: 10 });
      listed.push(...page.payments.map((payment) => JSON.stringify(payment.id)));
      cursor = page.cursor;
    }
    expect(listed).toContain(JSON.stringify(id));
    if (id.kind !== 'transfer') throw new Error('expected a transfer');
    expect(await showPayments(cluster, transactionEntry(id.chainId, id.txHash))).toMatchObject([
      { id, state: 'leased' },
    ]);
  });

  it('refuses older payments of the server that lost its data, and continues with those of the others', async () => {
    const older = Array.from({ length: 30 }, () => sampleClaim(ledger));
    const kept = await Promise.all(older.map((request) => ledger.claim(request)));
    expect(kept.every(({ outcome }) => outcome === 'claimed')).toBe(true);
    await cluster.nodes('master')[0]!.flushall();
    const outcomes = [];
    for (const request of older) {
      const late = {
        ...request,
        owner: createOwner(),
        deadlineMs: ledger.nowMs() + 60_000,
        headBlockNumber: HEAD_AT_BIRTH + 5,
      };
      outcomes.push((await ledger.claim(late)).outcome);
    }
    expect(new Set(outcomes)).toEqual(new Set(['busy', 'refused']));
  });
});
