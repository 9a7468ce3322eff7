import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { restart, useOwnRedis } from '../../../test/harness/stack/own-redis.js';
import type { RedisOptions } from '../../../tools/devnet/processes/redis.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim, sampleTransfer } from '../test/sample-payments.js';
import { createOwner, hashRetryKey } from './create-keys.js';
import { BUCKETS, birthKey } from './keys.js';
import { Ledger } from './ledger.js';
import type { PaymentId } from './payment-id.js';
import type { LedgerOptions, ClaimRequest, Lease } from './types.js';

const HEAD = HEAD_AT_BIRTH + 10;
const DAY_MS = 86_400_000;
const OLDER = { outcome: 'refused', failure: 'older_than_ledger' };

describe('losing Redis lets no payment be spent twice', () => {
  const { serve, connectTo } = useOwnRedis();

  const openLedger = async (url: string, options: Partial<LedgerOptions> = {}, headBlockNumber = HEAD_AT_BIRTH) => {
    const redis = connectTo(url);
    const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 10_000, ...options });
    await ledger.open({ chainId: 1328, blockNumber: headBlockNumber });
    return { redis, ledger };
  };

  const start = async (options: RedisOptions = {}) => {
    const server = await serve(options);
    return { server, ...(await openLedger(server.url)) };
  };

  /** Mined after the birth and up to the head: payments that a loss may have forgotten. */
  const before = (ledger: Ledger): ClaimRequest => sampleClaim(ledger, { headBlockNumber: HEAD });
  /** Mined after the head known at the loss. */
  const after = (ledger: Ledger): ClaimRequest =>
    sampleClaim(ledger, { headBlockNumber: HEAD, candidates: [sampleTransfer(ledger, { blockNumber: HEAD + 1 })] });
  const again = (request: ClaimRequest): ClaimRequest => ({
    ...request,
    owner: createOwner(),
    deadlineMs: Date.now() + 60_000,
  });
  const setInBirths = (redis: Redis, fields: Record<string, number>) =>
    Promise.all(Array.from({ length: BUCKETS }, (_, bucket) => redis.hset(birthKey(bucket, 1328), fields)));
  const birth = (redis: Redis) => redis.hgetall(birthKey(0, 1328));

  it('keeps every accepted claim over kill -9 under load if each write is on disk', async () => {
    const { server, redis, ledger } = await start();
    const known = await birth(redis);
    const requests = Array.from({ length: 600 }, () => before(ledger));
    const accepted = new Map<ClaimRequest, Lease>();
    const load = async (from: number): Promise<void> => {
      for (let index = from; index < requests.length; index += 20) {
        const request = requests[index]!;
        const result = await ledger.claim(request).catch(() => null);
        if (result?.outcome === 'claimed') accepted.set(request, result.lease);
        if (accepted.size === 100) await server.kill();
      }
    };
    const running = Promise.all(Array.from({ length: 20 }, (_, from) => load(from)));
    await server.exited();
    const acceptedBefore = new Map(accepted);
    await server.start();
    await running;

    expect(acceptedBefore.size).toBeGreaterThanOrEqual(100);
    for (const [request, lease] of acceptedBefore) {
      expect((await ledger.claim(again(request))).outcome).toBe('busy');
      expect(leaseOf(await ledger.claim(request))).toEqual(lease);
    }
    // And nothing was refused because of the restart: the birth is the old one, under a new run.
    expect(accepted.size).toBe(requests.length);
    const { at, block, epoch, run } = await birth(redis);
    expect({ at, block, epoch }).toEqual({ at: known['at'], block: known['block'], epoch: known['epoch'] });
    expect(run).not.toBe(known['run']);
  });

  it('refuses older payments after a restart that may have lost writes', async () => {
    const { server, ledger } = await start({ appendfsync: 'everysec' });
    const [untouched, spent, leased] = [before(ledger), before(ledger), before(ledger)];
    const spentLease = leaseOf(await ledger.claim(spent));
    await ledger.commit(spentLease, null);
    const stale = leaseOf(await ledger.claim(leased));
    await restart(server);
    expect(await ledger.claim(untouched)).toMatchObject(OLDER);
    for (const request of [spent, leased]) expect((await ledger.claim(again(request))).outcome).not.toBe('claimed');
    expect(await ledger.commit(stale, null)).toBe(false);
    leaseOf(await ledger.claim(after(ledger)));
  });

  it('refuses older payments after FLUSHALL while it runs, and accepts newer ones', async () => {
    const { redis, ledger } = await start();
    const [spent, untouched, inFlight] = [before(ledger), before(ledger), before(ledger)];
    await ledger.commit(leaseOf(await ledger.claim(spent)), null);
    const lease = leaseOf(await ledger.claim(inFlight));
    await redis.flushall();
    expect(await ledger.claim(again(spent))).toMatchObject(OLDER);
    expect(await ledger.claim(untouched)).toMatchObject(OLDER);
    expect(await ledger.commit(lease, null)).toBe(false);
    leaseOf(await ledger.claim(after(ledger)));
  });

  it('accepts a payment that no block holds yet, also if it was claimed before the loss', async () => {
    const { redis, ledger } = await start({ appendfsync: 'everysec' });
    const unsent = (head: number) =>
      sampleClaim(ledger, { headBlockNumber: head, candidates: [sampleTransfer(ledger, { blockNumber: head + 1 })] });
    const claimed = unsent(HEAD_AT_BIRTH);
    leaseOf(await ledger.claim({ ...claimed, leaseMs: 1 }));
    await sleep(5);
    // The bucket's next claim brings the head: the promotion counts as a loss.
    await redis.replicaof('127.0.0.1', '1');
    await redis.replicaof('NO', 'ONE');
    const now = { ...unsent(HEAD).candidates[0]!, id: claimed.candidates[0]!.id };
    const retry = { ...again(claimed), headBlockNumber: HEAD };
    expect(leaseOf(await ledger.claim({ ...retry, candidates: [now] })).generation).toBe(2);
    leaseOf(await ledger.claim(unsent(HEAD)));
    // An RPC server that lags behind the loss cannot show that it was not sent.
    expect(await ledger.claim(unsent(HEAD - 1))).toMatchObject(OLDER);
  });

  it.each([
    ['with retry keys', hashRetryKey('first'), hashRetryKey('second')],
    ['without', null, null],
  ])(
    'gives one answer if a payment that no block holds yet is claimed again after the loss, %s',
    async (_, key, otherKey) => {
      const { redis, ledger } = await start();
      const unsent = (id: PaymentId, head: number, retryKey: string | null) =>
        sampleClaim(ledger, {
          retryKey,
          headBlockNumber: head,
          candidates: [sampleTransfer(ledger, { id, blockNumber: head + 1 })],
        });
      const { id } = sampleTransfer(ledger);
      const first = leaseOf(await ledger.claim(unsent(id, HEAD_AT_BIRTH, key)));
      await redis.flushall();
      const second = leaseOf(await ledger.claim(unsent(id, HEAD, otherKey)));
      expect(second.generation).toBe(first.generation);
      expect([await ledger.commit(second, null), await ledger.commit(second, null)]).toEqual([true, true]);
      expect(await ledger.commit(first, null)).toBe(false);
    },
  );

  it('refuses older payments when an empty server replaced it', async () => {
    const { server: first, ledger } = await start();
    const spent = before(ledger);
    await ledger.commit(leaseOf(await ledger.claim(spent)), null);
    await first.kill();
    await serve({ port: first.port });
    expect(await ledger.claim(again(spent))).toMatchObject(OLDER);
    leaseOf(await ledger.claim(after(ledger)));
  });

  it('refuses older and unfinished payments when a replica was promoted', async () => {
    const { server: primary, ledger } = await start({ args: ['--repl-diskless-sync-delay', '0'] });
    const [finished, unfinished, lost] = [before(ledger), before(ledger), before(ledger)];
    await ledger.commit(leaseOf(await ledger.claim(finished)), null);
    const unfinishedLease = leaseOf(await ledger.claim({ ...unfinished, leaseMs: 1 }));
    const replica = await serve({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
    const standby = connectTo(replica.url);
    while (!(await standby.info('replication')).includes('master_link_status:up')) await sleep(20);
    // The replica misses the last writes: the commit of one payment and the claim of another.
    await standby.replicaof('127.0.0.1', '1');
    await ledger.commit(unfinishedLease, null);
    await ledger.claim(lost);
    await primary.kill();
    await standby.replicaof('NO', 'ONE');

    const { ledger: promoted } = await openLedger(replica.url, {}, HEAD);
    expect(await promoted.claim(again(lost))).toMatchObject(OLDER);
    expect(await promoted.claim(again(unfinished))).toMatchObject(OLDER);
    expect((await promoted.claim(again(finished))).outcome).toBe('used');
    expect(await promoted.commit(unfinishedLease, null)).toBe(false);
    leaseOf(await promoted.claim(after(promoted)));
    await replica.kill();
  });

  it('detects a promotion even if the scripts survived it', async () => {
    const { redis, ledger } = await start();
    const untouched = before(ledger);
    await ledger.claim(before(ledger));
    await redis.replicaof('127.0.0.1', '1');
    await redis.replicaof('NO', 'ONE');
    expect(await ledger.claim(untouched)).toMatchObject(OLDER);
  });

  it('refuses nothing when it gets its first replica', async () => {
    const { server, redis, ledger } = await start({
      appendfsync: 'everysec',
      args: ['--repl-diskless-sync-delay', '0'],
    });
    const known = await birth(redis);
    const replica = await serve({ args: ['--replicaof', '127.0.0.1', String(server.port)] });
    while (!(await redis.info('replication')).includes('connected_slaves:1')) await sleep(20);
    leaseOf(await ledger.claim(before(ledger)));
    const { run, epoch } = await birth(redis);
    expect(run).not.toBe(known['run']);
    expect(epoch).toBe(known['epoch']);
    await replica.kill();
  });

  it('continues when only the scripts were lost', async () => {
    const { redis, ledger } = await start();
    await redis.script('FLUSH');
    leaseOf(await ledger.claim(before(ledger)));
  });

  it('raises every bucket, and opening again on the same run raises none', async () => {
    const { server, redis, ledger } = await start({ appendfsync: 'no' });
    const epochs = () =>
      Promise.all(Array.from({ length: BUCKETS }, (_, bucket) => redis.hget(birthKey(bucket, 1328), 'epoch')));
    await ledger.open();
    expect(new Set(await epochs())).toEqual(new Set(['1']));
    await restart(server);
    await Promise.all([ledger.open(), ledger.open(), openLedger(server.url)]);
    // The kill may have lost the birth records themselves; new ones refuse just as much.
    const [epoch] = await epochs();
    expect(new Set(await epochs())).toEqual(new Set([epoch]));
    expect(await ledger.claim(before(ledger))).toMatchObject({ outcome: 'claimed' });
    const minuteOld = sampleTransfer(ledger, { minedAtMs: Date.now() - 60_000 });
    expect(await ledger.claim(sampleClaim(ledger, { candidates: [minuteOld] }))).toMatchObject(OLDER);
  });

  it('trusts a birth without a block only beyond the clock skew, until a head is known', async () => {
    const server = await serve();
    const redis = connectTo(server.url);
    const gateway = new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000 });
    await gateway.open();
    expect(await gateway.claim(sampleClaim(gateway))).toMatchObject(OLDER);
    await gateway.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    leaseOf(await gateway.claim(sampleClaim(gateway)));
  });

  it.each([
    ['was born', 'at'],
    ['was last compared', 'seen'],
  ])('refuses what was made before, and nothing else, when the clock was ahead while it %s', async (_when, field) => {
    const { redis, ledger } = await start();
    const ahead = Date.now() + 3_600_000;
    await setInBirths(redis, { [field]: ahead });
    // Without the chain's head it cannot tell which payments were made before.
    await ledger.open();
    expect(await birth(redis)).toMatchObject({ epoch: '1', [field]: String(ahead) });
    // Whatever expired while the clock was ahead is among these.
    expect(await ledger.claim(before(ledger))).toMatchObject(OLDER);
    for (let index = 0; index < 10; index++) leaseOf(await ledger.claim(after(ledger)));
    const { epoch, at, seen, block } = await birth(redis);
    expect({ epoch, block }).toEqual({ epoch: '2', block: String(HEAD) });
    for (const time of [at, seen]) expect(Number(time)).toBeLessThanOrEqual(Date.now());
  });

  it('judges the payments of each chain by its own head, and a chain that cannot be read by the time', async () => {
    const { redis, ledger, server } = await start({ appendfsync: 'everysec' });
    const other = new Ledger({ redis, chainIds: [84_532], timeoutMs: 10_000 });
    await other.open({ chainId: 84_532, blockNumber: 5 });
    const onOther = (blockNumber: number): ClaimRequest => {
      const transfer = sampleTransfer(other, { blockNumber });
      const candidates = [{ ...transfer, id: { ...transfer.id, chainId: 84_532 } }];
      return sampleClaim(other, { candidates, headBlockNumber: blockNumber });
    };
    // Far below the head of the first chain.
    leaseOf(await other.claim(onOther(6)));
    await server.kill();
    await server.start();
    // The first chain's process is back first, and brings its head; that of the other chain cannot be read yet.
    leaseOf(await ledger.claim(after(ledger)));
    await other.open();
    expect(await other.claim(onOther(7))).toMatchObject(OLDER);
    await other.open({ chainId: 84_532, blockNumber: 7 });
    expect(await other.claim(onOther(7))).toMatchObject(OLDER);
    leaseOf(await other.claim(onOther(8)));
  });

  it('refuses nothing when the clocks of two servers differ by some seconds', async () => {
    const { redis, ledger } = await start();
    await setInBirths(redis, { seen: Date.now() + 20_000 });
    await ledger.open({ chainId: 1328, blockNumber: HEAD });
    leaseOf(await ledger.claim(before(ledger)));
    expect(await birth(redis)).toMatchObject({ epoch: '1' });
  });

  it('refuses what a shorter window may have forgotten when the window is increased', async () => {
    const { redis, ledger } = await start();
    await setInBirths(redis, { at: 0, block: 0 });
    const mined = (ageMs: number, windowMs: number) =>
      sampleClaim(ledger, { candidates: [sampleTransfer(ledger, { minedAtMs: Date.now() - ageMs, windowMs })] });
    const wide = new Ledger({ redis, chainIds: [1328], retentionMs: DAY_MS, timeoutMs: 30_000 });
    await ledger.open();
    // One claim with the short window in every bucket.
    for (let index = 0; index < 400; index++) leaseOf(await ledger.claim(mined(0, 900_000)));
    await wide.open();
    expect(await wide.claim(mined(3600_000, DAY_MS))).toMatchObject(OLDER);
    leaseOf(await wide.claim(mined(600_000, DAY_MS)));
  });

  it('refuses in the same way when a claim is the first to bring the larger window', async () => {
    const server = await serve();
    const { redis, ledger } = await openLedger(server.url, { retentionMs: 900_000 });
    await setInBirths(redis, { at: 0, block: 0 });
    const mined = (ageMs: number) =>
      sampleClaim(ledger, {
        candidates: [sampleTransfer(ledger, { minedAtMs: Date.now() - ageMs, windowMs: DAY_MS })],
      });
    expect(await ledger.claim(mined(3600_000))).toMatchObject(OLDER);
    leaseOf(await ledger.claim(mined(600_000)));
  });
});
