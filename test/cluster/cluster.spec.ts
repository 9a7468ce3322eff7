import { Logger } from '@nestjs/common';
import { openQueue, serveQueue, WakeQueues, WalletDirectory } from '@tollgate/agent-jobs';
import { ApiKeyStore } from '@tollgate/http';
import { Journal, OutboxFollower } from '@tollgate/journal';
import { connectRedis, duplicateRedis, type RedisClient } from '@tollgate/redis';
import { RequestReplyClient, RequestReplyServer } from '@tollgate/transport';
import { WebhookDeliveries, WebhookTargets } from '@tollgate/webhooks';
import type { Worker } from 'bullmq';

import { NestEvents } from '../../apps/agent-worker/src/events/event-pumps.js';
import { Revisits } from '../../apps/gateway/src/paywall/revisits/revisits.js';
import { PaymentIdentifiers } from '../../apps/gateway/src/paywall/verify/payment-identifiers.js';
import { checkRedis } from '../../libs/common/src/health/health.module.js';
import {
  FAILURE,
  finishSample,
  planSample,
  sampleAttempt,
  sampleLane,
  submitSample,
} from '../../libs/journal/test/sample-jobs.js';
import { Ledger } from '../../libs/ledger/src/index.js';
import {
  HEAD_AT_BIRTH,
  leaseOf,
  sampleClaim,
  sampleHash,
  sampleTransfer,
} from '../../libs/ledger/test/sample-payments.js';
import { SettlementRecords } from '../../libs/settlement/src/batch.js';
import { ContractWallets } from '../../libs/settlement/src/contract-wallets.js';
import { Strikes } from '../../libs/settlement/src/simulate.js';
import { listNewest } from '../../tools/cli/payments/payments.js';
import { withRedis } from '../../tools/cli/shared/with-redis.js';
import { waitFor } from '../harness/retry.js';
import { startCluster, type StartedCluster } from './start-cluster.js';

const lines: string[] = [];
const logger = {
  log: (line: string) => void lines.push(line),
  warn: (line: string) => void lines.push(line),
  error: (line: string) => void lines.push(line),
};
/** Enough different keys for all three shards. */
const MANY = 24;
const many = Array.from({ length: MANY }, (_, index) => index);

describe.each([
  { fault: 'is killed', signal: 'SIGKILL' },
  { fault: 'hangs', signal: 'SIGSTOP' },
] as const)('a cluster of which a primary $fault', ({ signal }) => {
  let cluster: StartedCluster;
  let redis: RedisClient;
  let blocking: RedisClient;
  let ledger: Ledger;
  let server: RequestReplyServer;
  let client: RequestReplyClient;
  let worker: Worker;
  const taken: string[] = [];
  const ask = (data: string) => client.ask<string>('repeat', data, { timeoutMs: 20_000, retryAfterMs: 500 });

  beforeAll(async () => {
    Logger.overrideLogger(false);
    cluster = await startCluster();
    redis = connectRedis({ url: cluster.url, role: 'ledger', logger });
    blocking = connectRedis({ url: cluster.url, role: 'queue', use: 'blocking', logger });
    ledger = new Ledger({ redis, chainIds: [1328] });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    server = new RequestReplyServer({
      redisUrl: cluster.url,
      queue: 'echo',
      closeTimeoutMs: 100,
      routingKeys: ['one', 'two'],
    });
    server.addHandler('repeat', (data: unknown) => Promise.resolve(data), false);
    await new Promise<void>((resolve, reject) => {
      void server.listen((error) => (error instanceof Error ? reject(error) : resolve()));
    });
    client = new RequestReplyClient({ redisUrl: cluster.url, queue: 'echo' });
    worker = serveQueue('agent-jobs', ({ id }) => Promise.resolve(void taken.push(String(id)) as never), {
      connection: duplicateRedis(blocking, { maxRetriesPerRequest: null }),
    });
    worker.on('error', () => undefined);
  });

  afterAll(async () => {
    await Promise.all([client.close(), server.close(), worker.close(true)]);
    redis.disconnect();
    blocking.disconnect();
    await cluster.stop();
  });

  it('checks each primary before the first script', async () => {
    const fresh = connectRedis({ url: cluster.url, role: 'checks', logger });
    const primary = await withRedis(
      { url: cluster.primaries[1]!.url.replace('//', '//:canary-password@') },
      async (one) => {
        await one.config('SET', 'maxmemory-policy', 'allkeys-lru');
        await expect(new Ledger({ redis: fresh, chainIds: [1328] }).open()).rejects.toMatchObject({
          code: 'redis_evicts',
        });
        await one.config('SET', 'maxmemory-policy', 'noeviction');
        return 'checked';
      },
    );
    expect(primary).toBe('checked');
    await new Ledger({ redis: fresh, chainIds: [1328] }).open();
    fresh.disconnect();
  });

  it('runs every script of the stores within one slot', async () => {
    const records = new SettlementRecords(redis);
    const asked = many.map((index) => ({ name: `payment-${index}`, questionId: `q-${index}`, keptMs: 60_000 }));
    expect(await records.claim(asked, 'first')).toEqual(asked.map(() => ({ jobId: 'first' })));
    for (const record of asked) {
      expect(await records.replace(record, 'first', 'second')).toBe(true);
      await records.release(record, 'second');
      expect(await records.keepAnswer(record, null, { outcome: 'failed' } as never)).toBeNull();
    }
    const strikes = new Strikes(redis, 1328);
    const hashes = many.map(() => sampleHash());
    for (let count = 0; count < 5; count++) await Promise.all(hashes.map((payer) => strikes.note(payer)));
    expect(await strikes.findBarred(hashes)).toEqual(new Set(hashes));
    const budget = { gasPerHour: 1e9, gasCap: 1_000 };
    const settings = { areAccepted: true, burnsPerCode: 3, budgets: { calls: budget, deployments: budget } };
    const contracts = new ContractWallets(redis, 1328, settings, () => undefined);
    for (const [index, name] of hashes.entries()) {
      const code = { name, budget: index % 3 === 0 ? 'deployments' : 'calls' } as const;
      expect(await contracts.admit(name, { ...code, gas: 10n })).toBeNull();
      await contracts.conclude(name, { gasUsed: 9n, isSettled: index % 2 === 0 });
      expect(await contracts.findRefusal(code)).toBeNull();
    }
    const identifiers = new PaymentIdentifiers(redis);
    const revisits = new Revisits(redis, '');
    for (const payer of hashes) {
      const lease = { id: sampleTransfer(ledger).id, generation: 1 };
      expect(await identifiers.take({ payer, identifier: 'x', lease })).toBe('anew');
      await identifiers.forget({ payer, identifier: 'x', lease });
      expect(await revisits.takeNonce(payer)).toBe(true);
      await revisits.remember(payer, 'a request', { payment: '1', seconds: 60 });
    }
  });

  it('keeps API keys, wallets and webhooks', async () => {
    const { key, token } = await new ApiKeyStore(redis).create({
      name: 'x',
      scopes: ['submit'] as never,
      wallets: ['*'],
    });
    expect(await new ApiKeyStore(redis).authenticate(token)).toMatchObject({ id: key.id });
    await new WalletDirectory(redis).publish({ name: 'treasury', lane: sampleLane() });
    const targets = new WebhookTargets(redis, 'jobs', { rules: { allowPrivateTargets: true } });
    const deliveries = new WebhookDeliveries(redis, 'jobs');
    const registered = await targets.register({ keyId: key.id, url: 'http://127.0.0.1:9/', hearsAll: true });
    if (registered.outcome !== 'registered') throw new Error(JSON.stringify(registered));
    const { target } = registered;
    const event = { id: 'event', type: 'jobCompleted', at: new Date().toISOString() };
    expect(
      await deliveries.add([{ target, announced: { keyId: key.id, order: 1, event } }], { perTarget: 1, inAll: 1 }),
    ).toEqual([]);
    expect((await deliveries.listDue()).due).toHaveLength(1);
    expect(await deliveries.claim(target, 9, 60_000)).toHaveLength(1);
    expect(await targets.remove(target)).toBe(true);
  });

  it('rings for the events of lanes in different slots', async () => {
    const journal = new Journal({ redis });
    await journal.open();
    const bell = new OutboxFollower(
      connectRedis({ url: cluster.url, role: 'bell', use: 'blocking', logger }),
      (error) => {
        throw error;
      },
    );
    const rung = new Set<string>();
    for (const lane of many.slice(0, 6).map(() => sampleLane())) {
      await journal.adopt(lane, { pendingNonce: 0 });
      bell.join(lane, 0, () => rung.add(lane.address));
      const { token } = (await journal.takeLease(lane, 'worker', 600_000))!;
      await finishSample(journal, await submitSample(journal, lane, token));
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write);
      await journal.reserve({ ...write, maxInFlight: 10 });
      const attempt = sampleAttempt();
      await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: 1, attempt });
      const refused = { ...write, hash: attempt.hash, failure: FAILURE, givesBackSpending: true };
      expect(await journal.failAttempt(refused)).toMatchObject({ outcome: 'done' });
    }
    await waitFor('each lane rang', () => rung.size === 6);
    await bell.close();
  });

  it('serves the request queues, the job queues, the command line and readiness', async () => {
    expect(await Promise.all(many.map((index) => ask(String(index))))).toEqual(many.map(String));
    expect(await client.ask('repeat', 'routed', { timeoutMs: 5_000, routingKey: 'two' })).toBe('routed');
    const queue = openQueue('agent-jobs', redis);
    await queue.add('x', {}, { jobId: 'before' });
    await waitFor('the job', () => taken.includes('before'));
    await queue.close();
    const troubles: unknown[] = [];
    const wakeQueues = new WakeQueues({ connection: redis, onTrouble: (error) => troubles.push(error) });
    await wakeQueues.wake('job', sampleLane());
    await wakeQueues.close();
    expect(troubles).toEqual([]);
    const lease = leaseOf(await ledger.claim(sampleClaim(ledger)));
    await ledger.commit(lease, null);
    const { text } = await listNewest({ redis: cluster.url, limit: 10, chain: 1328 }, {});
    expect(text).not.toContain('no such');
    await checkRedis(redis)();
  });

  it("publishes Nest's own events", async () => {
    const received: unknown[] = [];
    const subscriber = duplicateRedis(redis, {});
    await subscriber.subscribe('transactionFailed');
    subscriber.on('message', (_channel, text: string) => received.push(JSON.parse(text)));
    const events = new NestEvents(cluster.url);
    const lane = sampleLane();
    const event = { id: 'j12345678-123456789012345678901234:REVERTED:1', sequence: 1, type: 'transactionFailed', lane };
    await events.take([{ ...event, atMs: 1, state: 'REVERTED', operation: 'swap' } as never], 'treasury');
    await waitFor('the event', () => received.length === 1);
    await events.close();
    subscriber.disconnect();
  });

  it('goes on without it: payments of before are refused where it was, and claimed on the other primaries', async () => {
    const before = many.map(() => sampleClaim(ledger));
    cluster.primaries[0]!.signal(signal);
    const head = HEAD_AT_BIRTH + 50;
    await waitFor('the ledger in every bucket', async () => {
      const claims = many.map(() => {
        const candidates = [sampleTransfer(ledger, { blockNumber: head + 1 })];
        return ledger.claim(sampleClaim(ledger, { candidates, headBlockNumber: head })).catch(() => null);
      });
      return (await Promise.all(claims)).every((claim) => claim?.outcome === 'claimed');
    });
    const late = before.map((claim) =>
      ledger.claim({ ...claim, headBlockNumber: head, deadlineMs: ledger.nowMs() + 9e3 }),
    );
    const outcomes = (await Promise.all(late)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(['claimed', 'refused']));
    await waitFor('readiness', () =>
      checkRedis(redis)().then(
        () => true,
        () => false,
      ),
    );
    expect(await ask('after')).toBe('after');
    const queue = openQueue('agent-jobs', redis);
    await queue.add('x', {}, { jobId: 'after' });
    await waitFor('the job', () => taken.includes('after'));
    await queue.close();
  });

  it('is served by the others when it comes back, and never logs a password', async () => {
    if (signal === 'SIGSTOP') cluster.primaries[0]!.signal('SIGCONT');
    else await cluster.primaries[0]!.start();
    for (const index of many) expect(await redis.set(`tollgate:{after-${index}}`, '1')).toBe('OK');
    expect(await ask('again')).toBe('again');
    expect(lines.join('\n')).not.toContain('canary');
  });
});

describe('a cluster that is not one', () => {
  it('is named by the command line without its password', async () => {
    const url = 'redis+cluster://:canary-password@127.0.0.1:1';
    const failed = withRedis({ url }, () => Promise.resolve());
    await expect(failed).rejects.toThrow(/Redis did not answer \(/);
    await expect(failed).rejects.not.toThrow('canary');
  });
});
