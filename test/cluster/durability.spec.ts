import { once } from 'node:events';

import type { Hex } from '@tollgate/protocol';
import { Redis, type Cluster } from 'ioredis';

import { Journal } from '../../libs/journal/src/index.js';
import { createJobId } from '../../libs/journal/src/jobs/keys.js';
import {
  planSample,
  sampleAttempt,
  sampleLane,
  sampleRequest,
  submitSample,
} from '../../libs/journal/test/sample-jobs.js';
import { Ledger, type Lease, type StoredAnswer } from '../../libs/ledger/src/index.js';
import {
  CHAIN_ID,
  HEAD_AT_BIRTH,
  leaseOf,
  sampleClaim,
  sampleTransfer,
} from '../../libs/ledger/test/sample-payments.js';
import { connectRedis, createRedis, type RedisClient } from '../../libs/redis/src/connect-redis.js';
import { StoreUnavailableError } from '../../libs/redis/src/index.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { withRedis } from '../../tools/devnet/processes/with-redis.js';
import { waitFor } from '../harness/retry.js';
import { createNode, type Node } from './servers.js';
import { CLUSTER_PASSWORD, startCluster } from './start-cluster.js';
import { startSentinels } from './start-sentinels.js';

/** For replicas that acknowledge, on a busy machine too. */
const PATIENT = { durability: { replicas: 1, timeoutMs: 60_000 }, timeoutMs: 90_000 };
/** For replicas that do not. */
const HASTY = { ...PATIENT, durability: { replicas: 1, timeoutMs: 500 } };
const ANSWER: StoredAnswer = { status: 200, headers: [['content-type', 'text/plain']], body: Buffer.from('sunny') };
const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
const HEAD = HEAD_AT_BIRTH + 10;
const LAST_SLOT = 16_383;
const many = Array.from({ length: 32 }, (_, index) => index);

/** A worker's lane with one job that has a plan and a nonce. */
async function reserveSample(journal: Journal) {
  const lane = sampleLane();
  await journal.adopt(lane, { pendingNonce: 0 });
  const { token } = (await journal.takeLease(lane, 'worker', 600_000))!;
  const write = await submitSample(journal, lane, token);
  await planSample(journal, write);
  await journal.reserve({ ...write, maxInFlight: 10 });
  return { lane, write, put: { ...write, expectedAttempts: 0, nonce: 0, attempt: sampleAttempt() } };
}

/** A replica that is still writing its first append-only file acknowledges nothing. */
const waitUntilAcknowledged = (ledger: Ledger): Promise<void> =>
  waitFor('the replica', () =>
    ledger.claim(sampleClaim(ledger)).then(
      () => true,
      () => false,
    ),
  );

/** One of each kind of work that something would leave after. */
async function prepare(ledger: Ledger, journal: Journal) {
  const answered = leaseOf(await ledger.claim(sampleClaim(ledger)));
  await ledger.commit(answered, ANSWER);
  const heldClaim = sampleClaim(ledger, { leaseMs: 120_000, retryKey: 'held' });
  const held = leaseOf(await ledger.claim(heldClaim));
  const reserved = await reserveSample(journal);
  const unclaimed = sampleClaim(ledger, { leaseMs: 120_000, deadlineMs: ledger.nowMs() + 120_000 });
  const request = sampleRequest(reserved.lane);
  const named = { ...request, jobId: createJobId(reserved.lane) };
  const closed = sampleTransfer(ledger).id;
  const workOf = (by: Ledger, withJournal: Journal) => ({
    claim: () => by.claim(unclaimed),
    'repeated claim': () => by.claim({ ...unclaimed, candidates: [...unclaimed.candidates] }),
    commit: () => by.commit(held, ANSWER),
    'close for a refund': () => by.close({ id: closed, refund: 'refund-1', reason: null, allowsAnswered: false }),
    replay: () => by.readAnswer(answered.id),
    submit: () => withJournal.submit(request),
    'submit under an own id': () => withJournal.submitNamed(named),
    'put-attempt': () => withJournal.putAttempt(reserved.put),
    'read for a broadcast': () => withJournal.readJob(reserved.write.jobId),
  });
  /** About the payment that `commit` answers. */
  const entry = { chainId: CHAIN_ID, txHash: txHashOf(held) };
  const readsOf = (by: Ledger) => ({
    find: () => by.find({ ...entry, fingerprint: heldClaim.fingerprint, retryKey: 'held' }),
    whySpent: () => by.whySpent(entry),
    isLeased: () => by.isLeased(entry),
  });
  return { workOf, unclaimed, request, readsOf };
}

function txHashOf({ id }: Lease): Hex {
  if (id.kind !== 'transfer') throw new Error(`This is no transfer: ${id.kind}`);
  return id.txHash;
}

/** The reason for which each was refused; null for an answer, and for an error that is not a 503. */
async function readRefusals(work: Record<string, () => Promise<unknown>>): Promise<Record<string, string | null>> {
  const reasons = Object.entries(work).map(async ([name, run]): Promise<[string, string | null]> => {
    const error = await run().then(
      () => null,
      (reason: unknown) => reason,
    );
    return [name, error instanceof StoreUnavailableError ? error.message : null];
  });
  return Object.fromEntries(await Promise.all(reasons));
}

it('takes the promotion of a replica that acknowledges for a restart, after which a wallet lacks nothing', async () => {
  const server = await startRedis({ plain: true });
  const redis = new Redis(server.url);
  const journal = new Journal({ redis });
  await journal.open();
  const acknowledging = new Journal({ redis, ...PATIENT });
  const freezeOf = async (before: Journal, after: Journal) => {
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 0 });
    await before.open();
    await redis.replicaof('127.0.0.1', '1');
    await redis.replicaof('NO', 'ONE');
    await after.open();
    return (await journal.readLane(lane)).frozen;
  };
  expect(await freezeOf(acknowledging, acknowledging)).toBe('restarted');
  expect(await freezeOf(acknowledging, journal)).toBe('lost');
  expect(await freezeOf(journal, acknowledging)).toBe('lost');
  redis.disconnect();
  await server.stop();
});

describe('a primary with one replica that must acknowledge', () => {
  let primary: RedisServer;
  let replica: RedisServer;
  let redis: Redis;
  let ledger: Ledger;
  let journal: Journal;
  let hastyLedger: Ledger;
  let hastyJournal: Journal;

  beforeAll(async () => {
    primary = await startRedis({ plain: true });
    const args = ['--replicaof', '127.0.0.1', String(primary.port)];
    replica = await startRedis({ args });
    redis = new Redis(primary.url);
    ledger = new Ledger({ redis, chainIds: [1328], ...PATIENT });
    journal = new Journal({ redis, ...PATIENT });
    hastyLedger = new Ledger({ redis, chainIds: [1328], ...HASTY });
    hastyJournal = new Journal({ redis, ...HASTY });
    await waitFor('the replica', async () => (await redis.info('replication')).includes('state=online'));
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    await journal.open();
    await Promise.all([hastyLedger.open(), hastyJournal.open()]);
    await waitUntilAcknowledged(ledger);
  });

  afterAll(async () => {
    redis.disconnect();
    await replica.stop();
    await primary.stop();
  });

  const countWaits = async (): Promise<number> =>
    Number(/cmdstat_waitaof:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

  it('acknowledges claims, commits, replays, refunds and the writes of jobs', async () => {
    const { workOf, readsOf } = await prepare(ledger, journal);
    const [work, reads] = [workOf(ledger, journal), readsOf(ledger)];
    expect(await work.claim()).toMatchObject({ outcome: 'claimed' });
    expect(await work['repeated claim']()).toMatchObject({ outcome: 'claimed' });
    expect(await work.commit()).toBe(true);
    expect(await work.replay()).toMatchObject({ status: 200 });
    expect(await work['close for a refund']()).toEqual({ outcome: 'closed', from: 'free' });
    expect(await work.submit()).toMatchObject({ outcome: 'accepted' });
    expect(await work['put-attempt']()).toMatchObject({ outcome: 'done' });
    expect(await work['read for a broadcast']()).toMatchObject({ state: 'SIGNED' });
    expect(await reads.find()).toMatchObject({ outcome: 'answered' });
    expect([await reads.whySpent(), await reads.isLeased()]).toEqual(['payment_used', false]);
  });

  it('is asked once for all that is claimed in one turn', async () => {
    const before = await countWaits();
    const claims = await Promise.all(many.map(() => ledger.claim(sampleClaim(ledger))));
    expect(new Set(claims.map(({ outcome }) => outcome))).toEqual(new Set(['claimed']));
    expect((await countWaits()) - before).toBe(1);
  });

  it('gets its scripts again when it has lost them', async () => {
    await redis.script('FLUSH');
    expect(await ledger.claim(sampleClaim(ledger))).toMatchObject({ outcome: 'claimed' });
    await journal.open();
  });

  it('answers nobody while the replica hangs, and serves the same requests once it is back', async () => {
    const { workOf, unclaimed, request } = await prepare(ledger, journal);
    replica.signal('SIGSTOP');
    expect(Object.values(await readRefusals(workOf(hastyLedger, hastyJournal)))).not.toContain(null);
    replica.signal('SIGCONT');
    const work = workOf(ledger, journal);
    const lease = leaseOf(await ledger.claim(unclaimed));
    const other = { ...unclaimed, owner: sampleClaim(ledger).owner };
    expect(await ledger.claim(other)).toMatchObject({ outcome: 'busy' });
    expect(await ledger.commit(lease, ANSWER)).toBe(true);
    expect(await ledger.claim(other)).not.toMatchObject({ outcome: 'claimed' });
    expect(await work.commit()).toBe(true);
    expect(await work.replay()).toMatchObject({ status: 200 });
    expect(await work['close for a refund']()).toMatchObject({ outcome: 'closed_before' });
    expect(await work['submit under an own id']()).toMatchObject({ outcome: 'known' });
    const first = await journal.submit(request);
    expect(await journal.submit(request)).toEqual({ ...first, outcome: 'known' });
    expect(await work['read for a broadcast']()).toMatchObject({ state: 'SIGNED' });
  });

  it('ends the connection that waits with the one it was given', async () => {
    const own = new Redis(primary.url);
    const other = new Ledger({ redis: own, chainIds: [1328], ...PATIENT });
    await other.open();
    await other.claim(sampleClaim(other));
    const count = async () => (await redis.client('LIST')) as string;
    const before = (await count()).split('\n').length;
    const ended = once(own, 'end');
    own.disconnect();
    await ended;
    await waitFor('both are gone', async () => (await count()).split('\n').length === before - 2);
  });
});

describe('a primary that hangs for longer than the election and comes back', () => {
  it('answers nobody who has kept a connection to it', async () => {
    const group = await startSentinels();
    const redis = new Redis({ port: group.primary.port, username: 'seller', password: 'canary-password' });
    const [ledger, journal] = [new Ledger({ redis, chainIds: [1328], ...PATIENT }), new Journal({ redis, ...PATIENT })];
    const [hastyLedger, hastyJournal] = [
      new Ledger({ redis, chainIds: [1328], ...HASTY }),
      new Journal({ redis, ...HASTY }),
    ];
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    await journal.open();
    await Promise.all([hastyLedger.open(), hastyJournal.open()]);
    await waitUntilAcknowledged(ledger);
    const { workOf, readsOf } = await prepare(ledger, journal);
    const [work, reads] = [workOf(hastyLedger, hastyJournal), readsOf(hastyLedger)];
    // Their connections exist before the primary hangs.
    await hastyLedger.readAnswer(sampleTransfer(ledger).id).catch(() => undefined);
    await hastyJournal.readJob(createJobId(sampleLane())).catch(() => undefined);
    const sockets = redis.stream;

    group.primary.signal('SIGSTOP');
    // Sent while it hangs, so that it runs them before it hears of its successor.
    const refused = readRefusals(work);
    await waitFor('another primary', () => group.isSwitched());
    group.primary.signal('SIGCONT');
    expect(Object.values(await refused)).not.toContain(null);
    expect((await refused).claim).toContain('0 of 1 replicas have written it to disk');
    expect(Object.values(await readRefusals(work))).not.toContain(null);
    // It has run the commit that its successor never had.
    for (const read of Object.values(reads)) {
      await expect(read()).rejects.toThrow('0 of 1 replicas have written it to disk');
    }
    expect(redis.stream).toBe(sockets);
    redis.disconnect();
    await group.stop();
  });
});

describe('a replica that succeeds its primary', () => {
  const servers: RedisServer[] = [];
  const connections: RedisClient[] = [];
  const serve = async (...args: string[]): Promise<RedisServer> => {
    const timing = ['--repl-diskless-sync-delay', '0'];
    servers.push(await startRedis({ args: [...timing, ...args] }));
    return servers.at(-1)!;
  };
  const follow = ({ port }: RedisServer) => serve('--replicaof', '127.0.0.1', String(port));
  // As a service does: the driver's own client would end none of those that come from it, if its server is gone.
  const connect = ({ url }: RedisServer): RedisClient => {
    const redis = connectRedis({ url, role: 'ledger', logger });
    connections.push(redis);
    return redis;
  };
  const openLedger = async (server: RedisServer, headBlockNumber: number): Promise<Ledger> => {
    const redis = connect(server);
    const ledger = new Ledger({ redis, chainIds: [1328], ...PATIENT });
    await ledger.open({ chainId: 1328, blockNumber: headBlockNumber });
    return ledger;
  };

  afterEach(async () => {
    for (const redis of connections.splice(0)) redis.disconnect();
    for (const server of servers.splice(0).reverse()) await server.stop();
  });

  /** Answers a payment and knows of others, loses the primary, and has another replica follow the next one. */
  async function succeed({ spare = false, restart = false }) {
    const primary = await serve();
    const replica = await follow(primary);
    if (spare) await follow(primary);
    // The ledger counts the replicas when it opens, and then in the buckets that are claimed from only.
    const following = `connected_slaves:${spare ? 2 : 1}`;
    await waitFor(following, () =>
      withRedis(primary.url, async (redis) => (await redis.info('replication')).includes(following)),
    );
    const ledger = await openLedger(primary, HEAD_AT_BIRTH);
    await waitUntilAcknowledged(ledger);
    const sample = () => sampleClaim(ledger, { headBlockNumber: HEAD, deadlineMs: ledger.nowMs() + 120_000 });
    const [answered, abandoned, unclaimed] = [sample(), sample(), sample()];
    await ledger.commit(leaseOf(await ledger.claim(answered)), ANSWER);
    await ledger.claim({ ...abandoned, leaseMs: 1 });
    if (restart) {
      await primary.kill();
      await primary.start();
      await waitUntilAcknowledged(ledger);
    }
    // The spare replica may have acknowledged alone: this test is about what was acknowledged by both.
    await connections[0]!.set('after-all-of-it', '');
    await connections[0]!.wait(spare ? 2 : 1, 0);
    for (const redis of connections.splice(0)) redis.disconnect();
    await primary.kill();
    await withRedis(replica.url, (redis) => redis.call('REPLICAOF', 'NO', 'ONE'));
    await follow(replica);
    const successor = await openLedger(replica, HEAD);
    await waitFor('the next replica', () =>
      successor.readAnswer(answered.candidates[0]!.id).then(
        () => true,
        () => false,
      ),
    );
    const claim = (request: typeof answered) => successor.claim({ ...request, owner: sample().owner });
    return { answered: await claim(answered), abandoned: await claim(abandoned), unclaimed: await claim(unclaimed) };
  }

  it.each([
    { when: 'at once', restart: false },
    { when: 'after a restart of the primary', restart: true },
  ])('serves payments of before, since it lacks none that was answered, $when', async ({ restart }) => {
    expect(await succeed({ restart })).toMatchObject({
      answered: { outcome: 'used' },
      abandoned: { outcome: 'claimed' },
      unclaimed: { outcome: 'claimed' },
    });
  });

  it('is not judged by a process for which no replica acknowledges, which closes no payment either', async () => {
    const primary = await serve();
    const replica = await follow(primary);
    const startLocal = (server: RedisServer) =>
      new Ledger({ redis: connect(server), chainIds: [1328], timeoutMs: 90_000 });
    const ledger = await openLedger(primary, HEAD_AT_BIRTH);
    await waitUntilAcknowledged(ledger);
    const unclaimed = sampleClaim(ledger, { headBlockNumber: HEAD, deadlineMs: ledger.nowMs() + 120_000 });
    const refund = { refund: 'refund-1', reason: null, allowsAnswered: false };
    const close = (by: Ledger) => by.close({ ...refund, id: sampleTransfer(ledger).id });
    await expect(close(startLocal(primary))).rejects.toMatchObject({ code: 'durability_differs' });
    await connections[0]!.wait(1, 0);
    await primary.kill();
    await withRedis(replica.url, (redis) => redis.call('REPLICAOF', 'NO', 'ONE'));
    await expect(startLocal(replica).open()).rejects.toMatchObject({ code: 'durability_differs' });
    await expect(close(startLocal(replica))).rejects.toThrow('LEDGER_DURABILITY=replica');
    await follow(replica);
    const successor = await openLedger(replica, HEAD);
    await waitUntilAcknowledged(successor);
    expect(await successor.claim(unclaimed)).toMatchObject({ outcome: 'claimed' });
    // A change of the setting, which the next failover notices.
    const changed = startLocal(replica);
    await changed.open();
    expect(await close(changed)).toMatchObject({ outcome: 'closed' });
  });

  it('refuses them where another replica could have acknowledged in its place', async () => {
    const refused = { outcome: 'refused', failure: 'older_than_ledger' };
    expect(await succeed({ spare: true })).toMatchObject({
      answered: { outcome: 'used' },
      abandoned: refused,
      unclaimed: refused,
    });
  });
});

describe('a cluster whose replicas must acknowledge', () => {
  it('acknowledges on every shard, and without its replica a shard answers 503 until it is back', async () => {
    const cluster = await startCluster();
    // Without the limit of a connection in production, which is shorter than a busy replica may take to acknowledge.
    const redis = createRedis(cluster.url, {});
    const [ledger, hasty] = [
      new Ledger({ redis, chainIds: [1328], ...PATIENT }),
      new Ledger({ redis, chainIds: [1328], ...HASTY }),
    ];
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    await hasty.open();
    const claims = await Promise.all(many.map(() => ledger.claim(sampleClaim(ledger))));
    expect(new Set(claims.map(({ outcome }) => outcome))).toEqual(new Set(['claimed']));
    expect(await ledger.commit(leaseOf(claims[0]!), ANSWER)).toBe(true);

    cluster.replicas[0]!.signal('SIGSTOP');
    const outcomes = await Promise.all(
      many.map(() =>
        hasty.claim(sampleClaim(ledger)).then(
          ({ outcome }) => outcome,
          (error: unknown) => (error as Error).name,
        ),
      ),
    );
    expect(new Set(outcomes)).toEqual(new Set(['claimed', 'StoreUnavailableError']));
    cluster.replicas[0]!.signal('SIGCONT');
    const again = await Promise.all(many.map(() => ledger.claim(sampleClaim(ledger))));
    expect(new Set(again.map(({ outcome }) => outcome))).toEqual(new Set(['claimed']));
    redis.disconnect();
    await cluster.stop();
  });

  it('keeps to what its replicas acknowledged over a restart of a primary, unless a slot is on its way', async () => {
    const cluster = await startCluster();
    const redis = connectRedis({ url: cluster.url, role: 'ledger', logger }) as Cluster;
    const ledger = new Ledger({ redis, chainIds: [1328], ...PATIENT });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    const nodes = [...cluster.primaries, ...cluster.replicas].map((server) => createNode(server, CLUSTER_PASSWORD));
    // No replica takes over meanwhile.
    for (const node of nodes) await node.redis.config('SET', 'cluster-node-timeout', '60000');
    const [restarted, receiving, untouched] = nodes;
    const moving = await untouched!.redis.cluster('MYID');
    await receiving!.redis.cluster('SETSLOT', LAST_SLOT, 'IMPORTING', String(moving));
    for (const { server } of [restarted!, receiving!]) {
      await server.kill();
      await server.start();
    }
    await waitFor('the ledger', () =>
      ledger.open({ chainId: 1328, blockNumber: HEAD }).then(
        () => true,
        () => false,
      ),
    );
    const readReplicas = async ({ redis: node }: Node) => {
      const keys = await node.keys('tollgate:{pay-*}:birth:*');
      return new Set(await Promise.all(keys.map((key) => node.hget(key, 'replicas'))));
    };
    expect(await Promise.all([restarted!, receiving!, untouched!].map(readReplicas))).toEqual([
      new Set(['1']),
      new Set(['0']),
      new Set(['1']),
    ]);
    for (const node of nodes) node.redis.disconnect();
    redis.disconnect();
    await cluster.stop();
  });
});
