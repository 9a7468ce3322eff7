import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ApiKeyStore } from '@tollgate/http';
import { Journal, type LaneId } from '@tollgate/journal';
import { Ledger, listRefusals, type StoredAnswer } from '@tollgate/ledger';
import { connectRedis, RESTORE_MARKER } from '@tollgate/redis';
import { Redis } from 'ioredis';

import {
  finishSample,
  planSample,
  sampleLane,
  sampleRequest,
  submitSample,
} from '../../../libs/journal/test/sample-jobs.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim } from '../../../libs/ledger/test/sample-payments.js';
import { waitFor } from '../../../test/harness/retry.js';
import { startRedis, type RedisServer } from '../../devnet/processes/redis.js';
import { NOT_DONE, tollgate } from '../test/run-tollgate.js';
import { encodeKey, encodeStart, encodeSummary } from './backup-format.js';

const run = promisify(execFile);
const ANSWER: StoredAnswer = { status: 200, headers: [['content-type', 'text/plain']], body: Buffer.from('sunny') };
const OLDER = { outcome: 'refused', failure: 'older_than_ledger' };
/** Above the head that the first process of the restored Redis reads. */
const HEAD = HEAD_AT_BIRTH + 50;

describe('tollgate backup and restore', () => {
  let source: RedisServer;
  let target: RedisServer;
  let from: Redis;
  let to: Redis;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    [source, target] = await Promise.all([startRedis({ appendfsync: 'no' }), startRedis()]);
    [from, to] = [source, target].map(({ url }) => {
      const redis = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
      redis.on('error', () => undefined);
      return redis;
    }) as [Redis, Redis];
  });

  afterAll(async () => {
    from.disconnect();
    to.disconnect();
    await Promise.all([source.stop(), target.stop()]);
  });

  beforeEach(async () => {
    await Promise.all([from.flushall(), to.flushall()]);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
    file = join(folder, 'copy');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** Out of `from` into a file, and from there into `to`. */
  const backUp = () => tollgate(['backup', file, '--redis', source.url]);
  const restore = (...options: string[]) => tollgate(['restore', file, '--redis', target.url, ...options]);
  /** 20 MB that cannot be compressed, so that a copy takes a while. */
  const populate = async (redis: Redis): Promise<void> => {
    const pipeline = redis.pipeline();
    for (let index = 0; index < 320; index++) pipeline.set(`tollgate:{pay-1}:answer:${index}`, randomBytes(65_536));
    await pipeline.exec();
  };

  const openLedger = async (redis: Redis, headBlockNumber = HEAD_AT_BIRTH) => {
    const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 60_000 });
    await ledger.open({ chainId: 1328, blockNumber: headBlockNumber });
    return ledger;
  };
  const openJournal = async (redis: Redis) => {
    const journal = new Journal({ redis, timeoutMs: 60_000 });
    await journal.open();
    return journal;
  };
  const useLane = async (journal: Journal): Promise<{ lane: LaneId; token: number }> => {
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 0 });
    return { lane, token: (await journal.takeLease(lane, 'worker', 600_000))!.token };
  };

  describe('payments', () => {
    /** One of each kind at the time of the backup. */
    const sell = async (ledger: Ledger) => {
      const request = () => sampleClaim(ledger, { retryKey: 'k'.repeat(22), leaseMs: 60_000 });
      const [answered, leased, released, unknown] = [request(), request(), request(), request()];
      await ledger.commit(leaseOf(await ledger.claim(answered)), ANSWER);
      const lease = leaseOf(await ledger.claim(leased));
      await ledger.release(leaseOf(await ledger.claim(released)), { counted: true });
      return { answered, leased, released, unknown, lease };
    };
    const again = (ledger: Ledger, request: ReturnType<typeof sampleClaim>) =>
      ledger.claim({ ...request, owner: 'o'.repeat(22), deadlineMs: ledger.nowMs() + 9_000, headBlockNumber: HEAD });

    it('that were answered before replay their answers; all others of before are refused', async () => {
      const { answered, leased, released, unknown, lease } = await sell(await openLedger(from));
      await backUp();
      await restore();
      const ledger = await openLedger(to, HEAD);
      expect((await again(ledger, answered)).outcome).toBe('answered');
      expect(await ledger.readAnswer(answered.candidates[0]!.id)).toEqual(ANSWER);
      // They may have been answered after the backup.
      for (const doubtful of [leased, released, unknown]) {
        expect(await again(ledger, doubtful)).toMatchObject(OLDER);
      }
      expect(await ledger.commit(lease, ANSWER)).toBe(false);
    });

    it('are refused as well by a process that has used the same server before', async () => {
      const ledger = await openLedger(to);
      const { answered, leased, unknown, lease } = await sell(ledger);
      await tollgate(['backup', file, '--redis', target.url]);
      expect(await restore('--replace')).toContain('Restored.');
      for (const doubtful of [leased, unknown]) expect(await again(ledger, doubtful)).toMatchObject(OLDER);
      expect(await ledger.commit(lease, ANSWER)).toBe(false);
      expect((await again(ledger, answered)).outcome).toBe('answered');
    });

    it('expire when they would have, however late the restore', async () => {
      const ledger = await openLedger(from);
      const request = sampleClaim(ledger);
      await ledger.commit(leaseOf(await ledger.claim(request)), ANSWER);
      const [key] = await from.keys('tollgate:{pay-*}:tx:*');
      await from.set('tollgate:{gone}', '', 'PX', 1);
      await backUp();
      await restore();
      expect(await to.pexpiretime(key!)).toBe(await from.pexpiretime(key!));
      expect(await to.exists('tollgate:{gone}')).toBe(0);
    });

    it('that were refused stay on the list of refunds, and are not listed twice', async () => {
      const ledger = await openLedger(from);
      const { id } = sampleClaim(ledger).candidates[0]!;
      const refusal = { id, failure: 'payment_too_old' as const, amountBaseUnits: 1000n };
      await ledger.recordRefusal(refusal);
      await backUp();
      await restore();
      expect(await listRefusals(to)).toEqual(await listRefusals(from));
      expect(await (await openLedger(to, HEAD)).recordRefusal(refusal)).toBe(false);
    });
  });

  describe('jobs', () => {
    it('come back with their lane, which is frozen until its nonces are compared', async () => {
      const journal = await openJournal(from);
      const { lane, token } = await useLane(journal);
      const [ended, sent] = [await submitSample(journal, lane, token), await submitSample(journal, lane, token)];
      await finishSample(journal, ended);
      await planSample(journal, sent);
      await journal.reserve({ ...sent, maxInFlight: 9 });
      const known = sampleRequest(lane, { idempotencyKey: 'known' });
      const { jobId } = (await journal.submit(known)) as { jobId: string };
      await backUp();
      await restore();

      const restored = await openJournal(to);
      expect(await restored.readLane(lane)).toMatchObject({ frozen: 'lost', nextNonce: 2, openJobs: 2, lease: null });
      for (const id of [ended.jobId, sent.jobId, jobId]) {
        expect(await restored.readJob(id)).toEqual(await journal.readJob(id));
      }
      expect(await restored.outbox.read(lane, { after: 0 })).toEqual(await journal.outbox.read(lane, { after: 0 }));
      expect(await restored.submit(known)).toEqual({ outcome: 'known', jobId, state: 'PLANNED' });
      const { token: next } = (await restored.takeLease(lane, 'another', 60_000))!;
      expect(next).toBeGreaterThan(token);
      expect(await restored.reserve({ ...sent, token: next, maxInFlight: 9 })).toMatchObject({ reason: 'lane_frozen' });
    });

    it('are frozen as well for a process that has used the same server before', async () => {
      const journal = await openJournal(to);
      const { lane, token } = await useLane(journal);
      const write = await submitSample(journal, lane, token);
      await planSample(journal, write);
      await tollgate(['backup', file, '--redis', target.url]);
      await restore('--replace');
      const { token: next } = (await journal.takeLease(lane, 'worker', 600_000))!;
      expect(await journal.reserve({ ...write, token: next, maxInFlight: 9 })).toMatchObject({ reason: 'lane_frozen' });
    });

    it('that a worker goes on with meanwhile are copied with exactly the nonces that the lane has given out', async () => {
      const journal = await openJournal(from);
      const { lane, token } = await useLane(journal);
      for (let count = 0; count < 20; count++) await submitSample(journal, lane, token);
      await populate(from);
      let isOver = false;
      const working = (async () => {
        for (let count = 0; !isOver; count++) {
          const write = await submitSample(journal, lane, token, { idempotencyKey: `key-${count}` });
          await planSample(journal, write);
          await journal.reserve({ ...write, maxInFlight: 100_000 });
        }
      })();
      await waitFor('some work', async () => (await journal.readLane(lane)).nextNonce! > 5);
      await backUp();
      const { nextNonce: later } = await journal.readLane(lane);
      isOver = true;
      await working;
      await restore();
      const restored = await openJournal(to);
      const { nextNonce } = await restored.readLane(lane);
      const inFlight = await restored.readInFlight(lane);
      expect(nextNonce).toBeGreaterThan(5);
      expect(nextNonce).toBeLessThan(later!);
      expect(inFlight.map(({ nonce }) => nonce)).toEqual(Array.from({ length: nextNonce! }, (_, nonce) => nonce));
      const ids = await restored.readOpenJobs(lane);
      for (const job of await restored.readJobs(ids)) expect(job).not.toBeNull();
      expect(await to.keys('tollgate:*:job:*')).toHaveLength(ids.length);
      // No job lacks the key under which its client would submit it again.
      expect((await to.keys('tollgate:{idempotency-*}')).length).toBeGreaterThanOrEqual(ids.length);
    });
  });

  it('copies API keys, but no queue, and says what it has copied', async () => {
    const { token } = await new ApiKeyStore(from).create({ name: 'x', scopes: ['submit'], wallets: ['*'] });
    await from.rpush('tollgate:{verify-1328}:requests', 'a question');
    await from.set('tollgate:{agent}:agent-jobs:id', '1');
    await from.set('another-program', '1');
    const copied = JSON.parse(await tollgate(['backup', file, '--json', '--redis', source.url])) as {
      startedAtMs: number;
    };
    expect(copied).toMatchObject({ file, counts: { payments: 0, answers: 0, lanes: 0, jobs: 0, keys: 1 } });
    expect(Math.abs(copied.startedAtMs - Date.now())).toBeLessThan(60_000);
    const checked = JSON.parse(await restore('--check', '--json')) as object;
    expect(checked).toMatchObject({ restored: false, counts: { keys: 1 } });
    expect(await to.dbsize()).toBe(0);
    await restore();
    expect(await new ApiKeyStore(to).authenticate(token)).toMatchObject({ name: 'x' });
    expect(await to.dbsize()).toBe(1);
  });

  describe('the file', () => {
    it('is readable by its owner only, and replaces none', async () => {
      await backUp();
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await expect(backUp()).rejects.toMatchObject({ ...NOT_DONE, stderr: expect.stringContaining('exists') });
      expect(readdirSync(folder)).toEqual(['copy']);
    });

    it('is removed where the disk is full', async () => {
      await populate(from);
      const command = `ulimit -f 4096 && exec node scripts/typescript.cjs tools/cli/main.ts backup ${file} --redis ${source.url}`;
      await expect(run('sh', ['-c', command])).rejects.toMatchObject({
        ...NOT_DONE,
        stderr: expect.stringMatching(/could not be written \(EFBIG.*Free space/),
      });
      expect(readdirSync(folder)).toEqual([]);
    });

    it.each([
      ['is cut off', () => truncateSync(file, statSync(file).size - 40), /is cut off or was changed/],
      ['is cut off in its first line', () => truncateSync(file, 10), /is not a backup/],
      ['is cut off in its second line', () => truncateSync(file, 30), /is cut off or was changed/],
      ['has one other bit', () => flipBit(file, statSync(file).size - 100), /is cut off or was changed/],
      ['has another checksum', () => flipBit(file, statSync(file).size - 1), /is cut off or was changed/],
      ['is a foreign one', () => writeFileSync(file, 'REDIS0010'), /is not a backup/],
      ['is empty', () => writeFileSync(file, ''), /is not a backup/],
      ['is of a later version', () => writeFileSync(file, 'TOLLGATE-BACKUP 2\n{}\n'), /has format 2.*reads up to 1/],
      ['does not exist', () => rmSync(file), /cannot be read: ENOENT/],
    ])('is refused before the first write where it %s', async (_, spoil, reason) => {
      await openLedger(from);
      await backUp();
      spoil();
      await expect(restore()).rejects.toMatchObject({ ...NOT_DONE, stderr: expect.stringMatching(reason) });
      await expect(restore('--check')).rejects.toMatchObject(NOT_DONE);
      expect(await to.dbsize()).toBe(0);
    });

    it('is refused by a Redis that is too old to read its values', async () => {
      await from.set('tollgate:{x}', '1');
      const value = await from.dumpBuffer('tollgate:{x}');
      value.writeUInt16LE(999, value.length - 10);
      const counts = { payments: 0, answers: 0, lanes: 0, jobs: 0, keys: 1 };
      const body = Buffer.concat([
        encodeStart({ id: 'x', startedAtMs: 1, redisVersion: '99.0.0' }),
        ...encodeKey({ key: 'tollgate:{x}', expiresAtMs: null, value }),
        ...encodeSummary({ endedAtMs: 2, counts }),
      ]);
      writeFileSync(file, Buffer.concat([body, createHash('sha256').update(body).digest()]));
      const reason = /made of Redis 99\.0\.0, whose data Redis [\d.]+ cannot read/;
      await expect(restore()).rejects.toMatchObject({ ...NOT_DONE, stderr: expect.stringMatching(reason) });
      expect(await to.dbsize()).toBe(0);
    });
  });

  describe('the target', () => {
    beforeEach(async () => {
      await openLedger(from);
      await backUp();
    });

    it('is not overwritten by a second restore, unless that is asked for', async () => {
      await restore();
      const stderr = expect.stringContaining('Add --replace to delete it');
      await expect(restore()).rejects.toMatchObject({ ...NOT_DONE, stderr });
      await to.set('tollgate:{pay-1}:tx:later', '1');
      await restore('--replace');
      expect(await to.exists('tollgate:{pay-1}:tx:later')).toBe(0);
      expect((await to.hgetall('tollgate:{pay-1}:birth:1328'))['run']).toBe('restored');
    });

    it('says which refused payments would be deleted', async () => {
      const ledger = await openLedger(to);
      await ledger.recordRefusal({ id: sampleClaim(ledger).candidates[0]!.id, failure: 'older_than_ledger' });
      const stderr = expect.stringContaining('Its 1 refused payments are deleted: save');
      await expect(restore()).rejects.toMatchObject({ ...NOT_DONE, stderr });
    });

    it('is refused while a process is connected', async () => {
      const logger = { log: () => undefined, warn: () => undefined, error: () => undefined };
      const gateway = connectRedis({ url: target.url, role: 'gateway', logger });
      await gateway.ping();
      const stderr = expect.stringContaining('Processes are connected to this Redis: gateway.');
      await expect(restore()).rejects.toMatchObject({ ...NOT_DONE, stderr });
      gateway.disconnect();
    });

    it('is restored by a user who may not see the processes, who is told so', async () => {
      await to.acl('SETUSER', 'narrow', 'on', '>canary', '~tollgate:*', '+@all', '-client|list');
      const url = target.url.replace('//', '//narrow:canary@');
      const output = await run(process.execPath, ['dist/tollgate.js', 'restore', file], {
        env: { ...process.env, REDIS_URL: url },
      });
      expect(output.stderr).toContain('may not list connections');
      expect(output.stdout + output.stderr).not.toContain('canary');
    });

    it('is refused if it is a replica', async () => {
      await to.replicaof('127.0.0.1', '1');
      await expect(restore()).rejects.toMatchObject({ ...NOT_DONE, stderr: expect.stringContaining('is a replica') });
      await to.replicaof('NO', 'ONE');
    });
  });

  describe('when Redis dies', () => {
    it('in the middle of a backup, there is no file', async () => {
      await populate(from);
      const copying = backUp();
      const part = `${file}.part`;
      const killed = waitFor('a part', () => existsSync(part) && statSync(part).size > 0).then(() => source.kill());
      await expect(copying).rejects.toMatchObject({
        ...NOT_DONE,
        stderr: expect.stringContaining('Redis did not answer'),
      });
      expect(readdirSync(folder)).toEqual([]);
      await killed;
      await source.start();
    });

    it('in the middle of a restore, nothing starts on it until the same file was restored', async () => {
      await openLedger(from);
      await populate(from);
      await backUp();
      const restoring = restore();
      const killed = waitFor('a part', async () => (await to.dbsize()) > 40).then(() => target.kill());
      await expect(restoring).rejects.toMatchObject({
        ...NOT_DONE,
        stderr: expect.stringContaining('stopped half-way'),
      });
      await killed;
      await target.start();
      await to.ping();
      await expect(openLedger(to)).rejects.toMatchObject({ code: 'redis_half_restored' });
      await expect(openJournal(to)).rejects.toMatchObject({ code: 'redis_half_restored' });
      await expect(tollgate(['backup', `${file}-2`, '--redis', target.url])).rejects.toMatchObject(NOT_DONE);
      await restore();
      expect(await to.exists(RESTORE_MARKER)).toBe(0);
      expect(await to.dbsize()).toBe(await from.dbsize());
      await openLedger(to, HEAD);
    });
  });
});

function flipBit(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 1;
  writeFileSync(file, bytes);
}
