import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { Queue, Worker } from 'bullmq';

import { Ledger } from '../../libs/ledger/src/index.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim, sampleTransfer } from '../../libs/ledger/test/sample-payments.js';
import { connectRedis, type RedisLogger } from '../../libs/redis/src/connect-redis.js';
import { listPrimaries } from '../../libs/redis/src/index.js';
import { RequestReplyClient, RequestReplyServer } from '../../libs/transport/src/index.js';
import { withRedis } from '../../tools/cli/shared/with-redis.js';
import { tollgate } from '../../tools/cli/test/run-tollgate.js';
import { waitFor } from '../harness/retry.js';
import { startSentinels, type SentinelGroup } from './start-sentinels.js';

const lines: string[] = [];
const logger: RedisLogger = {
  log: (line) => lines.push(line),
  warn: (line) => lines.push(line),
  error: (line) => lines.push(line),
};

describe.each([
  { fault: 'is killed', signal: 'SIGKILL' },
  { fault: 'hangs', signal: 'SIGSTOP' },
] as const)('the primary of a group of Sentinels that $fault', ({ signal }) => {
  let group: SentinelGroup;
  let redis: ReturnType<typeof connectRedis>;
  let blocking: ReturnType<typeof connectRedis>;
  let ledger: Ledger;
  let server: RequestReplyServer;
  let client: RequestReplyClient;
  let queue: Queue;
  let worker: Worker;
  const taken: unknown[] = [];
  const ask = (data: string) => client.ask<string>('repeat', data, { timeoutMs: 20_000, retryAfterMs: 500 });

  beforeAll(async () => {
    Logger.overrideLogger(false);
    lines.length = 0;
    group = await startSentinels();
    redis = connectRedis({ url: group.url, role: 'ledger', logger });
    blocking = connectRedis({ url: group.url, role: 'queue', use: 'blocking', logger });
    ledger = new Ledger({ redis, chainIds: [1328] });
    server = new RequestReplyServer({ redisUrl: group.url, queue: 'echo', closeTimeoutMs: 100 });
    server.addHandler('repeat', (data: unknown) => Promise.resolve(data), false);
    client = new RequestReplyClient({ redisUrl: group.url, queue: 'echo' });
    queue = new Queue('wake', { connection: blocking, prefix: 'tollgate' });
    queue.on('error', () => undefined);
    worker = new Worker('wake', ({ data }) => Promise.resolve(taken.push(data)), {
      connection: blocking,
      prefix: 'tollgate',
    });
    worker.on('error', () => undefined);
    await new Promise<void>((resolve, reject) => {
      void server.listen((error) => (error instanceof Error ? reject(error) : resolve()));
    });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
  });

  afterAll(async () => {
    await Promise.all([client.close(), server.close(), worker.close(true), queue.close()]);
    redis.disconnect();
    blocking.disconnect();
    await group.stop();
  });

  it('serves the ledger, the queues and the command line', async () => {
    const claim = sampleClaim(ledger);
    const lease = leaseOf(await ledger.claim(claim));
    expect(await ledger.commit(lease, null)).toBe(true);
    expect(await ask('before')).toBe('before');
    await queue.add('job', 'before');
    await waitFor('the job', () => taken.includes('before'));
    expect(await withRedis(group, (one) => one.client('GETNAME'))).toBeNull();
    expect(await withRedis(group, async (one) => String(await one.call('ACL', 'WHOAMI')))).toBe('seller');
  });

  it('is backed up, and is not restored while these processes are connected', async () => {
    const file = join(group.primary.dir, 'copy');
    const copied = await tollgate(['backup', file, '--json'], { REDIS_URL: group.url });
    expect(JSON.parse(copied)).toMatchObject({ counts: { payments: 1 } });
    const stderr = expect.stringMatching(/are connected to this Redis: .*ledger.*queue/);
    await expect(tollgate(['restore', file], { REDIS_URL: group.url })).rejects.toMatchObject({ code: 1, stderr });
  });

  it('is replaced: payments of before are refused, later ones and the queues are served by the next', async () => {
    const before = sampleClaim(ledger);
    expect(await ledger.claim(before)).toMatchObject({ outcome: 'claimed' });
    const unclaimed = sampleClaim(ledger);
    group.primary.signal(signal);
    await waitFor('another primary', () => group.isSwitched());

    const late = { ...unclaimed, headBlockNumber: HEAD_AT_BIRTH + 50 };
    let outcome = '';
    await waitFor('the ledger', async () => {
      const answer = await ledger.claim(late).catch(() => null);
      outcome = answer?.outcome ?? '';
      return answer !== null;
    });
    expect(outcome).toBe('refused');
    const candidates = [sampleTransfer(ledger, { blockNumber: HEAD_AT_BIRTH + 51 })];
    const after = sampleClaim(ledger, { candidates, headBlockNumber: HEAD_AT_BIRTH + 51 });
    expect(await ledger.claim(after)).toMatchObject({ outcome: 'claimed' });
    expect(await ask('after')).toBe('after');
    await queue.add('job', 'after');
    await waitFor('the job', () => taken.includes('after'));
    expect(await redis.info('replication')).toContain('role:master');
    expect(lines.filter((line) => line.startsWith('ledger: connected to the primary tollgate of'))).toHaveLength(1);
  });

  it('serves none of these connections when it comes back', async () => {
    if (signal === 'SIGSTOP') group.primary.signal('SIGCONT');
    else await group.primary.start();
    expect(await ask('again')).toBe('again');
    expect(await redis.set('tollgate:after', '1')).toBe('OK');
    expect(listPrimaries(redis)[0]?.stream.remotePort).toBe(group.replica.port);
    expect(listPrimaries(blocking)[0]?.stream.remotePort).toBe(group.replica.port);
  });

  it('never logs a password', () => {
    expect(lines).not.toEqual([]);
    expect(lines.join('\n')).not.toContain('canary');
  });
});

describe('a Sentinel that hangs while the primary is replaced', () => {
  let group: SentinelGroup;

  beforeAll(async () => (group = await startSentinels()));
  afterAll(() => group.stop());

  it('is left for the next one, though the others announce the new primary meanwhile', async () => {
    const redis = connectRedis({ url: group.url, role: 'ledger', use: 'blocking', logger });
    await redis.set('tollgate:before', '1');
    group.sentinels[0]!.signal('SIGSTOP');
    group.primary.signal('SIGKILL');
    await waitFor('an answer of the new primary', () =>
      Promise.race([redis.set('tollgate:after', '1').then(() => true), sleep(1_000, false)]),
    );
    expect(listPrimaries(redis)[0]?.stream.remotePort).toBe(group.replica.port);
    redis.disconnect();
  });
});

describe('Sentinels that name no primary', () => {
  let group: SentinelGroup;

  beforeAll(async () => (group = await startSentinels()));
  afterAll(() => group.stop());

  it('are named in the log and by the command line', async () => {
    lines.length = 0;
    const url = group.url.replace('/tollgate?', '/another?');
    const redis = connectRedis({ url, role: 'ledger', logger });
    await waitFor('a line', () => lines.length > 0);
    redis.disconnect();
    expect(lines[0]).toMatch(
      /^ledger: no connection to the primary another of the Sentinels .*: failed to connect to sentinel .* No such master/,
    );
    await expect(withRedis({ url }, () => Promise.resolve())).rejects.toThrow(/did not answer \(.* No such master/);
  });

  it('refuse a wrong password with a reason that does not contain it', async () => {
    const url = group.url.replace('sentinelPassword=canary-watchword', 'sentinelPassword=canary-wrong');
    const failed = withRedis({ url }, () => Promise.resolve());
    await expect(failed).rejects.toThrow(/did not answer \(failed to connect to sentinel .* because WRONGPASS/);
    await expect(failed).rejects.not.toThrow('canary');
  });
});
