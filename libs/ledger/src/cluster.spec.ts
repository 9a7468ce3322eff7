import { setTimeout as sleep } from 'node:timers/promises';

import { Cluster, Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim, sampleTransfer } from '../test/sample-payments.js';
import { createOwner, hashRetryKey } from './create-keys.js';
import { BUCKETS, birthKey } from './keys.js';
import { Ledger } from './ledger.js';
import { transactionEntry } from './payment-id.js';
import { listPayments, showPayments } from './read-payments.js';

const SLOTS = 16384;

describe('a ledger on a Redis cluster', () => {
  const servers: RedisServer[] = [];
  let cluster: Cluster;
  let ledger: Ledger;

  beforeAll(async () => {
    for (let index = 0; index < 3; index++) servers.push(await startRedis({ args: ['--cluster-enabled', 'yes'] }));
    const nodes = servers.map(({ url }) => new Redis(url));
    await Promise.all(
      nodes.map((node, index) => {
        const [from, to] = [Math.floor((index * SLOTS) / 3), Math.floor(((index + 1) * SLOTS) / 3) - 1];
        return node.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
      }),
    );
    for (const { port } of servers.slice(1)) await nodes[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port);
    for (const node of nodes) {
      while (!(await node.cluster('INFO')).includes('cluster_state:ok')) await sleep(50);
      while (((await node.cluster('SLOTS')) as unknown[]).length < 3) await sleep(50);
      node.disconnect();
    }
    cluster = new Cluster(
      servers.map(({ port }) => ({ host: '127.0.0.1', port })),
      { redisOptions: { maxRetriesPerRequest: null } },
    );
    cluster.on('error', () => undefined);
    ledger = new Ledger({ redis: cluster, timeoutMs: 20_000 });
    await ledger.open({ headBlockNumber: HEAD_AT_BIRTH });
  });

  afterAll(async () => {
    cluster.disconnect();
    for (const server of servers) await server.stop();
  });

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
      Array.from({ length: BUCKETS }, (_, bucket) => cluster.hget(birthKey(bucket), 'epoch')),
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
