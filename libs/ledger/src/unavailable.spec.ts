import { connectRedis, StoreError, StoreUnavailableError } from '@tollgate/redis';

import { startTcpProxy } from '../../../test/harness/network/tcp-proxy.js';
import { waitFor } from '../../../test/harness/retry.js';
import { useOwnRedis } from '../../../test/harness/stack/own-redis.js';
import type { RedisOptions } from '../../../tools/devnet/processes/redis.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim } from '../test/sample-payments.js';
import { birthKey } from './keys.js';
import { Ledger } from './ledger.js';

describe('a ledger without a fit Redis', () => {
  const { serve, connectTo, cleanUp } = useOwnRedis();

  /** `hasty` has a short timeout, for requests that get no answer; `ledger` waits for slow answers. */
  const start = async (options: RedisOptions = {}) => {
    const server = await serve(options);
    const redis = connectTo(server.url);
    const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000 });
    return { server, redis, ledger, hasty: new Ledger({ redis, chainIds: [1328], timeoutMs: 500 }) };
  };
  const startOpen = async () => {
    const started = await start();
    await started.ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    return { ...started, lease: leaseOf(await started.ledger.claim(sampleClaim(started.ledger))) };
  };

  /** Every operation that writes, each of which must fail with the same error and without a verdict. */
  const expectUnavailable = async (ledger: Ledger, work: () => Promise<unknown>): Promise<void> => {
    await expect(work()).rejects.toThrow(StoreUnavailableError);
    await expect(ledger.claim(sampleClaim(ledger))).rejects.toThrow(StoreUnavailableError);
    const refusal = { id: sampleClaim(ledger).candidates[0]!.id, failure: 'payment_late' } as const;
    await expect(ledger.recordRefusal(refusal)).rejects.toThrow(StoreUnavailableError);
  };

  it('is unavailable while Redis is down, and works again when it is back', async () => {
    const { server, ledger, hasty, lease } = await startOpen();
    await server.kill();
    await expectUnavailable(hasty, () => hasty.commit(lease, null));
    await expect(hasty.readAnswer(lease.id)).rejects.toThrow(StoreUnavailableError);
    await expect(hasty.open()).rejects.toThrow(StoreUnavailableError);
    await server.start();
    await ledger.open();
    expect(await ledger.commit(lease, null)).toBe(true);
  });

  it('is unavailable while Redis hangs', async () => {
    const { server, hasty, lease } = await startOpen();
    server.signal('SIGSTOP');
    await expectUnavailable(hasty, () => hasty.renew(lease, 1000));
    server.signal('SIGCONT');
  });

  it('spends nothing by a commit that Redis reads after its deadline', async () => {
    const { server, ledger, hasty } = await start();
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    // Which a busy machine may answer later than that.
    const tryToOpen = () =>
      hasty.open().then(
        () => true,
        () => false,
      );
    await waitFor('Redis answers in time', tryToOpen);
    const claim = sampleClaim(ledger, { leaseMs: 1_000 });
    const lease = leaseOf(await ledger.claim(claim));
    server.signal('SIGSTOP');
    await expect(hasty.commit(lease, null, { repeatForMs: 1_000 })).rejects.toThrow(StoreUnavailableError);
    server.signal('SIGCONT');
    // Another payer's commit is read after the late ones.
    const inTime = leaseOf(await ledger.claim(sampleClaim(ledger)));
    expect(await ledger.commit(inTime, null, { repeatForMs: 60_000 })).toBe(true);
    leaseOf(await ledger.claim({ ...claim, deadlineMs: ledger.nowMs() + 10_000 }));
  });

  it('answers a commit that was done before its deadline, and is asked about after it', async () => {
    const { server, redis, ledger, lease } = await startOpen();
    expect(await ledger.commit(lease, null)).toBe(true);
    // Its second question, which is the last one, is asked a quarter of a second after the first has timed out.
    const patient = new Ledger({ redis, chainIds: [1328], timeoutMs: 4_000 });
    server.signal('SIGSTOP');
    const committed = patient.commit(lease, null, { repeatForMs: 100 });
    setTimeout(() => server.signal('SIGCONT'), 4_100);
    expect(await committed).toBe(true);
  });

  it('is unavailable when Redis is out of memory', async () => {
    const { redis, ledger, lease } = await startOpen();
    await redis.config('SET', 'maxmemory', '1mb');
    await expectUnavailable(ledger, () => ledger.commit(lease, null));
    await redis.config('SET', 'maxmemory', '0');
    expect(await ledger.commit(lease, null)).toBe(true);
  });

  it('is unavailable when Redis became a replica, and does not open on one', async () => {
    const { redis, ledger, lease } = await startOpen();
    await redis.replicaof('127.0.0.1', '1');
    await expectUnavailable(ledger, () => ledger.commit(lease, null));
    await expect(ledger.open()).rejects.toMatchObject({
      code: 'redis_read_only',
      hint: expect.stringContaining('primary'),
    });
  });

  it('is unavailable when Redis refuses writes for lack of replicas', async () => {
    const { redis, ledger, lease } = await startOpen();
    await redis.config('SET', 'min-replicas-to-write', '1');
    await expectUnavailable(ledger, () => ledger.release(lease, { counted: true }));
  });

  it.each(['allkeys-lru', 'volatile-ttl'])('does not open if keys are evicted (%s)', async (policy) => {
    const { ledger } = await start({ args: ['--maxmemory', '64mb', '--maxmemory-policy', policy] });
    const error: unknown = await ledger.open().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: 'redis_evicts', hint: expect.stringContaining('noeviction') });
  });

  /** Opens a ledger over a connection of a service, and returns what that connection has warned of. */
  const openAt = async (url: string): Promise<string[]> => {
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const redis = connectRedis({ url, role: 'ledger', logger: { log: warn, warn, error: warn } });
    cleanUp(() => redis.disconnect());
    const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000 });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    return warnings;
  };

  // As managed services do.
  it('does not open on a Redis that hides what shows a failover, and names it', async () => {
    const { server } = await start();
    const proxy = await startTcpProxy(server.port);
    cleanUp(() => proxy.stop());
    proxy.hideLines(['role', 'master_replid']);
    await expect(openAt(`redis://127.0.0.1:${proxy.port}`)).rejects.toMatchObject({
      code: 'redis_hides_failovers',
      message: expect.stringContaining('role, master_replid'),
    });
    proxy.hideLines(['maxmemory_policy']);
    expect(await openAt(`redis://127.0.0.1:${proxy.port}`)).toEqual([]);
  });

  it('counts a Redis that shows its settings to nobody as one that loses data, says so once, and never lets it evict', async () => {
    const { server, redis } = await start();
    await redis.call('ACL', 'SETUSER', 'tollgate', 'on', '>secret', '~*', '&*', '+@all', '-config');
    const address = `tollgate:secret@127.0.0.1`;
    expect(await openAt(`redis://${address}:${server.port}`)).toEqual([expect.stringContaining('appendfsync')]);
    expect(await redis.hget(birthKey(0, 1328), 'durable')).toBe('0');
    const proxy = await startTcpProxy(server.port);
    cleanUp(() => proxy.stop());
    proxy.hideLines(['maxmemory_policy']);
    await expect(openAt(`redis://${address}:${proxy.port}`)).rejects.toMatchObject({
      code: 'redis_evicts',
      message: expect.stringContaining('does not show its maxmemory-policy'),
    });
  });

  it('claims no payment in a process that never opened it on an evicting Redis', async () => {
    const { ledger } = await start({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'] });
    await expectUnavailable(ledger, () => ledger.claim(sampleClaim(ledger)));
  });
});
