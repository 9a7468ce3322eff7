import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { AGENT_QUEUE_PREFIX, wakeQueueOf, WalletDirectory, writeStoredPlan } from '@tollgate/agent-jobs';
import { ApiKeyStore } from '@tollgate/http';
import { Journal, type LaneId } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { createPublicClient, http } from 'viem';

import { laneKey } from '../../../libs/journal/src/jobs/keys.js';
import {
  sampleAttempt,
  sampleLane,
  sampleRequest,
  sampleStep,
  spoilJob,
} from '../../../libs/journal/test/sample-jobs.js';
import { awaitReceipt } from '../../../test/harness/payments/await-receipt.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { startChain, type Devnet } from '../../devnet/chain/chain.js';
import { callRpc } from '../../devnet/processes/json-rpc.js';
import { NOT_DONE, tollgate, WRONG_USAGE } from '../test/run-tollgate.js';
import { printEvents } from './jobs.js';

const run = promisify(execFile);
const HOSTILE = '\u001b[2J\u202eowned';
const FAILURE = { code: 'SLIPPAGE', message: `The price moved ${HOSTILE}.`, suggestion: 'Try again.' };

describe('tollgate jobs', () => {
  let chain: Devnet;
  let server: BorrowedRedis;
  let redis: Redis;
  let journal: Journal;
  let lane: LaneId;
  let token: number;

  beforeAll(async () => {
    [chain, server] = await Promise.all([startChain(), borrowRedis()]);
    redis = new Redis(server.url, { maxRetriesPerRequest: null });
  });

  beforeEach(async () => {
    await redis.flushall();
    journal = new Journal({ redis });
    await journal.open();
    lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 0 });
    await new WalletDirectory(redis).publish({ name: 'main', lane });
    token = (await journal.takeLease(lane, 'worker', 600_000))!.token;
  });

  afterAll(async () => {
    redis.disconnect();
    await Promise.all([chain.stop(), server.stop()]);
  });

  const jobs = (...args: string[]): Promise<string> =>
    tollgate(['jobs', ...args, '--redis', server.url], { RPC_URL: chain.rpcUrl });

  async function submit(changes: Parameters<typeof sampleRequest>[1] = {}): Promise<string> {
    const result = await journal.submit(sampleRequest(lane, changes));
    return result.outcome === 'accepted' ? result.jobId : '';
  }

  async function plan(jobId: string, needsApproval = false): Promise<void> {
    const view = {
      summary: 'Swap 1 USDC for at least 1.97 WSEI',
      preview: `Swap\nat least 1.97 ${HOSTILE}`,
      floorsHash: 'floors',
      spends: [],
      receives: [],
      recipients: [],
      warnings: [],
      slippageBps: 50,
      needsApproval,
    };
    const steps = [sampleStep(`Swap ${HOSTILE}`)];
    await journal.putPlan({
      jobId,
      stepIndex: 0,
      token,
      steps,
      plan: writeStoredPlan(view, { spends: {}, receives: {}, recipients: [] }),
      floorsHash: 'floors',
      needsApproval,
    });
  }

  async function fail(jobId: string): Promise<void> {
    await journal.failPlan({ jobId, stepIndex: 0, token, failure: FAILURE, givesBackSpending: true });
  }

  async function countWakeUps(): Promise<number> {
    const connection = redis.duplicate();
    const queue = new Queue(wakeQueueOf(lane), { connection, prefix: AGENT_QUEUE_PREFIX });
    const count = await queue.getWaitingCount();
    await queue.close();
    connection.disconnect();
    return count;
  }

  it('lists the newest jobs first, filtered', async () => {
    expect(await jobs('list')).toBe('There is no such job.');
    const [swap, stake] = [await submit(), await submit({ operation: 'stake', wallet: 'old-name' })];
    await fail(swap);
    const ids = (text: string): string[] => [...text.matchAll(/^j[0-9a-f]{8}-[0-9a-f]{24}/gm)].map(([id]) => id);
    expect(ids(await jobs('list'))).toEqual([stake, swap]);
    expect(ids(await jobs('list', '--limit', '1'))).toEqual([stake]);
    expect(ids(await jobs('list', '--state', 'plan_failed,REVERTED'))).toEqual([swap]);
    expect(ids(await jobs('list', '--operation', 'stake'))).toEqual([stake]);
    expect(ids(await jobs('list', '--wallet', 'main'))).toEqual([swap]);
    expect(ids(await jobs('list', '--wallet', 'old-name'))).toEqual([stake]);
    const listed = JSON.parse(await jobs('list', '--json')) as object[];
    expect(listed).toMatchObject([{ id: stake }, { id: swap, keyId: 'key-1', failure: FAILURE }]);
  });

  it('lists a job that cannot be read as such, before the others', async () => {
    const [unreadable, other] = [await submit(), await submit()];
    await spoilJob(redis, lane, unreadable);
    expect(await jobs('list', '--state', 'planned', '--limit', '1')).toMatch(
      new RegExp(`\\n${unreadable} +unreadable .*\\n${other} +PLANNED `),
    );
    expect(JSON.parse(await jobs('list', '--json'))).toMatchObject([
      { id: unreadable, state: 'unreadable' },
      { id: other, state: 'PLANNED' },
    ]);
  });

  it('lists more jobs than one page of the journal', async () => {
    const ids = [];
    for (let count = 0; count < 210; count++) ids.unshift(await submit());
    expect(
      (JSON.parse(await jobs('list', '--limit', '205', '--json')) as { id: string }[]).map(({ id }) => id),
    ).toEqual(ids.slice(0, 205));
  });

  it('shows plan, steps and failure without control characters', async () => {
    const jobId = await submit();
    await plan(jobId);
    const shown = await jobs('show', jobId);
    expect(shown).toMatch(new RegExp(`^JOB +${jobId}\\nstate +PLANNED\\noperation +swap`));
    expect(shown).toContain('STEP 1  planned  nonce -  Swap');
    await fail(jobId);
    const failed = await jobs('show', jobId);
    expect(failed).toContain('SLIPPAGE: The price moved');
    for (const text of [shown, failed, await jobs('list'), await jobs('events')])
      expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(JSON.parse(await jobs('show', jobId, '--json'))).toMatchObject({ id: jobId, state: 'PLAN_FAILED' });
    await expect(jobs('show', 'j00000000-000000000000000000000000')).rejects.toMatchObject(NOT_DONE);
  });

  it('says for what a job waits, at the job, in the list and at its wallet', async () => {
    const jobId = await submit();
    await plan(jobId);
    const why = {
      code: 'rpc_refuses',
      message: `No server takes it: ${HOSTILE}.`,
      suggestion: 'Name another.',
    } as const;
    await journal.noteWaiting({ jobId, stepIndex: 0, token, why, forMs: 0 });
    const [shown, listed] = [await jobs('show', jobId), await jobs('list')];
    expect(shown).toMatch(/\nwaits +since \d{4}-.*: rpc_refuses: No server takes it: .*\nwhat to do +Name another\.\n/);
    expect(listed).toMatch(/ PLANNED .* No server takes it/);
    const env = { RPC_URL: chain.rpcUrl };
    const walletsListed = await tollgate(['wallets', 'list', '--redis', server.url], env);
    expect(walletsListed).toContain(`job ${jobId} waits: rpc_refuses: No server takes it`);
    for (const text of [shown, listed, walletsListed]) expect(text).not.toMatch(/[\u001b\u202e]/);
    const wallets = await tollgate(['wallets', 'list', '--json', '--redis', server.url], env);
    expect(JSON.parse(wallets)).toMatchObject([{ waiting: { jobId, ...why, since: expect.any(String) } }]);
  });

  it('cancels, and wakes the lane', async () => {
    const jobId = await submit();
    expect(await jobs('cancel', jobId)).toBe(`${jobId} is CANCELLED.`);
    expect(await countWakeUps()).toBe(1);
    expect(await jobs('cancel', jobId)).toBe(`${jobId} is CANCELLED already.`);
  });

  it('reports that a transaction in flight decides whether a job is cancelled', async () => {
    const jobId = await submit();
    await plan(jobId);
    await journal.reserve({ jobId, stepIndex: 0, token, maxInFlight: 10 });
    expect(await jobs('cancel', jobId)).toContain('is being cancelled');
  });

  it('approves the plan that was shown and no other', async () => {
    const jobId = await submit();
    await plan(jobId, true);
    await expect(jobs('approve', jobId)).rejects.toMatchObject(WRONG_USAGE);
    await expect(jobs('approve', jobId, '--floors', 'others')).rejects.toThrow(/does not match .*: tollgate jobs show/);
    expect(await jobs('approve', jobId, '--floors', 'floors')).toBe(`${jobId} is PLANNED.`);
    expect(await jobs('show', jobId)).toMatch(/approved +by console/);
    const other = await submit();
    await plan(other, true);
    expect(await jobs('reject', other)).toBe(`${other} is REJECTED.`);
  });

  it('neither approves nor resumes a job that sends a refund', async () => {
    const jobId = await submit({ operation: 'refund' });
    await plan(jobId, true);
    await expect(jobs('approve', jobId, '--floors', 'floors')).rejects.toThrow(/Approve it at the bookkeeper/);
    expect(await jobs('show', jobId)).toMatch(/state +AWAITING_APPROVAL/);
    await journal.needOperator({ jobId, stepIndex: 0, token, failure: FAILURE });
    await expect(jobs('resume', jobId)).rejects.toThrow(/Resume it at the bookkeeper/);
    expect(await jobs('show', jobId)).toMatch(/state +NEEDS_OPERATOR/);
  });

  it('resumes a job, or abandons it where the chain has used its nonce', async () => {
    const jobId = await submit();
    await plan(jobId);
    const reserved = await journal.reserve({ jobId, stepIndex: 0, token, maxInFlight: 10 });
    expect(reserved).toMatchObject({ nonce: 0 });
    await journal.needOperator({ jobId, stepIndex: 0, token, failure: FAILURE });
    // Nothing of this account is mined: its nonce 0 is not used.
    await expect(jobs('abandon', jobId)).rejects.toThrow(/is not used on the chain yet/);
    expect(await jobs('resume', jobId)).toBe(`${jobId} is RESERVED.`);
    expect(await jobs('resume', jobId)).toBe(`${jobId} is RESERVED already.`);
    const other = await submit();
    await journal.needOperator({ jobId: other, stepIndex: 0, token, failure: FAILURE });
    expect(await jobs('abandon', other)).toBe(`${other} is CANCELLED.`);
  });

  it('speeds up a job whose transaction is in flight', async () => {
    const write = { jobId: await submit(), stepIndex: 0, token };
    await expect(jobs('speed-up', write.jobId)).rejects.toThrow(/is PLANNED, which does not allow this/);
    await plan(write.jobId);
    const reserved = await journal.reserve({ ...write, maxInFlight: 10 });
    const nonce = 'nonce' in reserved ? reserved.nonce : -1;
    await journal.putAttempt({ ...write, expectedAttempts: 0, nonce, attempt: sampleAttempt() });
    expect(await jobs('speed-up', write.jobId)).toBe(
      `${write.jobId} gets a transaction with higher fees, as far as the fee caps allow.`,
    );
  });

  it('refuses to abandon a job whose own transaction is mined but not recorded in the journal', async () => {
    const [from] = (await callRpc(chain.rpcUrl, 'eth_accounts')) as string[];
    const hash = (await callRpc(chain.rpcUrl, 'eth_sendTransaction', [{ from, to: from }])) as Hex;
    await awaitReceipt(createPublicClient({ transport: http(chain.rpcUrl) }), hash);
    const write = { jobId: await submit(), stepIndex: 0, token };
    await plan(write.jobId);
    await journal.reserve({ ...write, maxInFlight: 10 });
    await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: 0, attempt: { ...sampleAttempt(), hash } });
    await journal.needOperator({ ...write, failure: FAILURE });
    await expect(jobs('abandon', write.jobId)).rejects.toThrow(/is mined\. Resume the job/);
    expect(await journal.readJob(write.jobId)).toMatchObject({ state: 'NEEDS_OPERATOR' });
  });

  it('retries a failed job once, and once more when that fails too', async () => {
    const jobId = await submit({ idempotencyKey: 'order-1' });
    await expect(jobs('retry', jobId)).rejects.toThrow(/is PLANNED\. Only a failed job/);
    await fail(jobId);
    const first = (await jobs('retry', jobId)).slice(0, jobId.length);
    expect(await journal.readJob(first)).toMatchObject({ retryOf: jobId, keyId: 'key-1', state: 'PLANNED' });
    expect(await countWakeUps()).toBe(1);
    expect(await jobs('retry', jobId)).toBe(`${jobId} was already retried as ${first}, which is PLANNED.`);
    await fail(first);
    const second = (await jobs('retry', jobId)).slice(0, jobId.length);
    expect([jobId, first]).not.toContain(second);
    expect(await jobs('retry', jobId, '--key', 'mine')).toContain(`repeats the request of ${jobId}`);
    await expect(jobs('retry', jobId, '--key', 'order-1')).rejects.toThrow(/belongs to another request.* --key/);
  });

  it('retries no job of an API key that is revoked', async () => {
    const keys = new ApiKeyStore(redis);
    const { key } = await keys.create({ name: 'bot', scopes: ['submit'], wallets: ['main'] });
    const jobId = await submit({ keyId: key.id });
    await fail(jobId);
    await keys.revoke(key.id);
    await expect(jobs('retry', jobId)).rejects.toThrow(/API key that submitted the job is revoked/);
    expect(await journal.readOpenJobs(lane)).toEqual([]);
  });

  it('decides also where the queues do not answer', async () => {
    const jobId = await submit();
    const text = await jobs('cancel', jobId, '--queue-redis', 'redis://127.0.0.1:9');
    expect(text).toMatch(/is CANCELLED\.\nThe queues' Redis did not answer/);
  });

  it('prints events, and follows new ones', async () => {
    expect(await jobs('events')).toBe('No job has reported an event yet.');
    const ids = [await submit(), await submit(), await submit()];
    await fail(ids[0]!);
    await fail(ids[1]!);
    expect((await jobs('events', '--limit', '1')).split('\n')).toHaveLength(1);
    const controller = new AbortController();
    const printed: string[] = [];
    const print = (text: string): void => {
      printed.push(text);
      if (printed.length === 2) void fail(ids[2]!);
      if (printed.length === 3) controller.abort();
    };
    const say = (text: string): void => void printed.push(text);
    await printEvents(journal, { limit: 50, isFollowing: true, isJson: true, print, say, signal: controller.signal });
    expect(printed.map((text) => (JSON.parse(text) as { jobId: string }).jobId)).toEqual(ids);
  });

  it('follows the events of a Redis that went back to older data, and says so', async () => {
    const ids = [await submit(), await submit(), await submit()];
    await fail(ids[0]!);
    const copy = await Promise.all(
      (await redis.keys('*')).map(async (key) => ({ key, data: await redis.dumpBuffer(key) })),
    );
    const restore = async (): Promise<void> => {
      const older = redis.multi().flushall();
      for (const { key, data } of copy) older.restore(key, 0, data);
      await older.exec();
      await fail(ids[2]!);
    };
    const controller = new AbortController();
    const printed: string[] = [];
    const print = (text: string): void => {
      printed.push((JSON.parse(text) as { jobId: string }).jobId);
      if (printed.length === 1) void fail(ids[1]!).then(() => fail(ids[2]!));
      if (printed.length === 3) void restore();
      if (printed.at(-1) === ids[2] && printed.length > 3) controller.abort();
    };
    const say = (text: string): void => void printed.push(text);
    await printEvents(journal, { limit: 50, isFollowing: true, isJson: true, print, say, signal: controller.signal });
    expect(printed).toEqual([
      ...ids,
      expect.stringMatching(/^Redis went back to older data of 1328:0x/),
      ids[0],
      ids[2],
    ]);
  });

  it('notices it also where later events have the sequences of those that it printed', async () => {
    const ids = [await submit(), await submit(), await submit(), await submit()];
    const copyAll = async () =>
      Promise.all((await redis.keys('*')).map(async (key) => [key, await redis.dumpBuffer(key)] as const));
    const putBack = async (copy: Awaited<ReturnType<typeof copyAll>>, run?: string): Promise<void> => {
      const older = redis.multi().flushall();
      for (const [key, data] of copy) older.restore(key, 0, data);
      if (run !== undefined) older.hset(laneKey(lane), 'run', run);
      await older.exec();
    };
    await fail(ids[0]!);
    const first = await copyAll();
    for (const id of [ids[1]!, ids[2]!]) await fail(id);
    const printedBefore = await copyAll();
    await putBack(first);
    for (const id of [ids[2]!, ids[1]!, ids[3]!]) await fail(id);
    const last = await copyAll();
    await putBack(printedBefore);
    const controller = new AbortController();
    const printed: string[] = [];
    const print = (text: string): void => {
      printed.push((JSON.parse(text) as { jobId: string }).jobId);
      if (printed.length === 3) void putBack(last, 'another');
      if (printed.at(-1) === ids[3]) controller.abort();
    };
    const say = (text: string): void => void printed.push(text);
    await printEvents(journal, { limit: 50, isFollowing: true, isJson: true, print, say, signal: controller.signal });
    expect(printed).toEqual([
      ...ids.slice(0, 3),
      expect.stringMatching(/^Redis went back to older data of 1328:0x/),
      ...[ids[0], ids[2], ids[1], ids[3]],
    ]);
  });

  it('refuses wrong usage with exit code 2', async () => {
    const program = ['scripts/typescript.cjs', 'tools/cli/main.ts', 'jobs', 'dance'];
    await expect(run(process.execPath, program)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^unknown command 'dance'\n[^]*See tollgate jobs --help\.\n$/),
    });
    const wrong = [
      ['show'],
      ['retry'],
      ['cancel', 'one', 'another'],
      ['list', 'one'],
      ['list', '--state', 'DONE'],
      ['list', '--operation', 'dance'],
      ['list', '--limit', '0'],
      ['list', '--wrong'],
    ];
    for (const args of wrong) await expect(jobs(...args)).rejects.toMatchObject(WRONG_USAGE);
  });
});
