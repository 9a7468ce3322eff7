import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { connectRedis, createRedis, type RedisClient } from '@tollgate/redis';

import { Journal } from '../../libs/journal/src/index.js';
import { finishSample, sampleLane, submitSample } from '../../libs/journal/test/sample-jobs.js';
import { Ledger } from '../../libs/ledger/src/index.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim } from '../../libs/ledger/test/sample-payments.js';
import { tollgate } from '../../tools/cli/test/run-tollgate.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { startCluster, type StartedCluster } from './start-cluster.js';

/** Enough for all three shards. */
const many = Array.from({ length: 24 }, (_, index) => index);
const ANSWER = { status: 200, headers: [], body: Buffer.from('sunny') };
const HEAD = HEAD_AT_BIRTH + 50;

describe('a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
  let cluster: StartedCluster;
  let single: RedisServer;
  let [ofCluster, ofSingle]: RedisClient[] = [];

  beforeAll(async () => {
    [cluster, single] = await Promise.all([startCluster(), startRedis({ plain: true })]);
    ofCluster = createRedis(cluster.url, {});
    ofSingle = createRedis(single.url, {});
  });

  afterAll(async () => {
    ofCluster?.disconnect();
    ofSingle?.disconnect();
    rmSync(folder, { recursive: true });
    await Promise.all([cluster.stop(), single.stop()]);
  });

  const open = async (redis: RedisClient, headBlockNumber: number) => {
    const [ledger, journal] = [
      new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000 }),
      new Journal({ redis, timeoutMs: 30_000 }),
    ];
    await ledger.open({ chainId: 1328, blockNumber: headBlockNumber });
    await journal.open();
    return { ledger, journal };
  };

  it('of a cluster is restored into one server, and one of that server into the cluster', async () => {
    const { ledger, journal } = await open(ofCluster!, HEAD_AT_BIRTH);
    const sold = many.map(() => sampleClaim(ledger, { retryKey: 'k'.repeat(22) }));
    for (const claim of sold) await ledger.commit(leaseOf(await ledger.claim(claim)), ANSWER);
    const unspent = many.map(() => sampleClaim(ledger));
    const jobs: string[] = [];
    for (const lane of many.slice(0, 6).map(() => sampleLane())) {
      await journal.adopt(lane, { pendingNonce: 0 });
      const { token } = (await journal.takeLease(lane, 'worker', 600_000))!;
      const write = await submitSample(journal, lane, token);
      await finishSample(journal, write);
      jobs.push(write.jobId);
    }
    const records = await journal.readJobs(jobs);

    const expectRestored = async (redis: RedisClient, head: number) => {
      const restored = await open(redis, head);
      const claim = (request: (typeof sold)[number]) =>
        restored.ledger.claim({
          ...request,
          owner: 'o'.repeat(22),
          headBlockNumber: head,
          deadlineMs: restored.ledger.nowMs() + 9_000,
        });
      for (const request of sold) {
        expect((await claim(request)).outcome).toBe('answered');
        expect(await restored.ledger.readAnswer(request.candidates[0]!.id)).toEqual(ANSWER);
      }
      for (const request of unspent) expect(await claim(request)).toMatchObject({ failure: 'older_than_ledger' });
      expect(await restored.journal.readJobs(jobs)).toEqual(records);
      for (const lane of await restored.journal.readLanes()) {
        expect(await restored.journal.readLane(lane)).toMatchObject({ frozen: 'lost', nextNonce: 1 });
      }
    };
    const [first, second] = [join(folder, 'of-cluster'), join(folder, 'of-server')];
    const copied = await tollgate(['backup', first, '--json', '--redis', cluster.url]);
    expect(JSON.parse(copied)).toMatchObject({ counts: { payments: 24, answers: 24, lanes: 6, jobs: 6 } });
    await tollgate(['restore', first, '--redis', single.url]);
    await expectRestored(ofSingle!, HEAD);
    await tollgate(['backup', second, '--redis', single.url]);
    await tollgate(['restore', second, '--redis', cluster.url, '--replace']);
    await expectRestored(ofCluster!, HEAD + 50);
  });

  it('is not restored into a cluster that a process uses through any of its servers', async () => {
    const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
    const gateway = connectRedis({ url: cluster.url, role: 'gateway', logger });
    await Promise.all(many.map((index) => gateway.exists(`tollgate:{any-${index}}`)));
    const restored = tollgate(['restore', join(folder, 'of-server'), '--redis', cluster.url, '--replace']);
    await expect(restored).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('are connected') });
    gateway.disconnect();
  });
});
