import { Logger } from '@nestjs/common';
import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, deriveEnqueueSecret, WalletDirectory } from '@tollgate/agent-jobs';
import { signAgentJobMessage } from '@tollgate/client/jobs';
import { ApiKeyStore } from '@tollgate/http';
import type { AgentJobMessage } from '@tollgate/protocol';
import { Queue, type Job } from 'bullmq';
import { Redis } from 'ioredis';

import { waitFor } from '../../../../test/harness/retry.js';
import {
  AGENT_SECRET,
  RECEIVER,
  WorkerFixture,
  type StartedWorker,
  type TestWallet,
} from '../../test/worker-fixture.js';

const INPUT = { to: RECEIVER, amount: '1', token: '0x0' };

describe('jobs that other services put into the queue', () => {
  let fixture: WorkerFixture;
  let wallet: TestWallet;
  let worker: StartedWorker;
  let connection: Redis;
  let queue: Queue;
  let apiKeys: ApiKeyStore;
  let keyId: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await WorkerFixture.start();
    wallet = await fixture.createWallet();
    worker = await fixture.startWorker({ WALLET_PRIVATE_KEY: wallet.privateKey });
    connection = new Redis(fixture.server.url, { maxRetriesPerRequest: null });
    connection.on('error', () => undefined);
    queue = new Queue(AGENT_JOBS_QUEUE, { connection, prefix: AGENT_QUEUE_PREFIX });
    queue.on('error', () => undefined);
    apiKeys = new ApiKeyStore(connection);
    keyId = (await apiKeys.create({ name: 'shop', scopes: ['submit'], wallets: ['main', 'nobody'] })).key.id;
  });

  afterAll(async () => {
    await queue.close();
    connection.disconnect();
    await fixture.stop();
  });

  const sign = (idempotencyKey: string, changes: { wallet?: string; issuedAtMs?: number; input?: object } = {}) =>
    signAgentJobMessage(
      { operation: 'transfer', wallet: changes.wallet ?? 'main', input: (changes.input ?? INPUT) as typeof INPUT },
      {
        keyId,
        secret: deriveEnqueueSecret(AGENT_SECRET, keyId),
        idempotencyKey,
        issuedAtMs: changes.issuedAtMs ?? Date.now(),
      },
    );

  async function settle(message: unknown, attempts = 1): Promise<Job> {
    const { id } = await queue.add('job', message, { attempts });
    let settled: Job | undefined;
    await waitFor('the message is settled', async () => {
      settled = await queue.getJob(id!);
      return settled?.finishedOn !== undefined;
    });
    return settled!;
  }

  it('are journaled and carried out, once for each idempotency key', async () => {
    const message = await sign('order-1');
    const first = await settle(message);
    expect(first.returnvalue).toEqual({ outcome: 'accepted', jobId: expect.stringMatching(/^j/) });
    const again = await settle(message);
    expect(again.returnvalue).toEqual({ outcome: 'known', jobId: first.returnvalue.jobId });
    const job = await fixture.waitForState(first.returnvalue.jobId, 'FINAL');
    expect(job).toMatchObject({ keyId, operation: 'transfer', wallet: 'main', input: INPUT });
    expect(await fixture.readNonce(wallet.lane)).toBe(1);
  });

  it('are refused with the reason, and never tried again, when they are invalid or not allowed', async () => {
    const message = await sign('order-2');
    const cases: [unknown, string][] = [
      [{ ...message, input: { ...INPUT, amount: '9' } }, 'signature_wrong: '],
      [{ ...message, signature: undefined }, 'message_malformed: '],
      ['0x02f8', 'message_malformed: '],
      [await sign('order-3', { issuedAtMs: Date.now() - 3_601_000 }), 'message_too_old: '],
      [await sign('order-4', { wallet: 'elsewhere' }), 'wallet_not_allowed: '],
      [await sign('order-5', { wallet: 'nobody' }), 'wallet_unknown: '],
      [await sign('order-6', { input: { ...INPUT, nonce: 7 } }), 'request_invalid: '],
      [await sign('order-1', { input: { ...INPUT, amount: '2' } }), 'idempotency_conflict: '],
    ];
    for (const [refused, reason] of cases) {
      const job = await settle(refused, 5);
      expect(job).toMatchObject({ failedReason: expect.stringContaining(reason), attemptsMade: 1 });
    }
    const { key } = await apiKeys.create({ name: 'gone', scopes: ['submit'], wallets: ['*'] });
    await apiKeys.revoke(key.id);
    const revoked = await signAgentJobMessage(
      { operation: 'transfer', wallet: 'main', input: INPUT },
      { keyId: key.id, secret: deriveEnqueueSecret(AGENT_SECRET, key.id), idempotencyKey: 'x', issuedAtMs: Date.now() },
    );
    expect((await settle(revoked)).failedReason).toContain('key_revoked: ');

    expect((await fixture.journal.listJobs({ lanes: [wallet.lane] })).jobs).toHaveLength(1);
    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    expect(metrics).toMatch(/tollgate_agent_messages_total\{outcome="accepted",.*\} 1\n/);
    expect(metrics).toMatch(/tollgate_agent_messages_total\{outcome="known",.*\} 1\n/);
    expect(metrics).toMatch(/tollgate_agent_messages_total\{outcome="signature_wrong",.*\} 1\n/);
    expect(metrics).toMatch(/tollgate_agent_messages_total\{outcome="key_revoked",.*\} 1\n/);
  });

  it('wait for a wallet that is not adopted yet, longer than the attempts that their sender allows', async () => {
    const late = await fixture.createWallet({ adopted: false });
    await fixture.publish('late', late);
    const { key } = await apiKeys.create({ name: 'late', scopes: ['submit'], wallets: ['late'] });
    const message: AgentJobMessage = await signAgentJobMessage(
      { operation: 'transfer', wallet: 'late', input: INPUT },
      { keyId: key.id, secret: deriveEnqueueSecret(AGENT_SECRET, key.id), idempotencyKey: 'y', issuedAtMs: Date.now() },
    );
    const { id } = await queue.add('job', message, { attempts: 1 });
    const read = () => queue.getJob(id!);
    await waitFor('it was tried three times', async () => ((await read())?.attemptsStarted ?? 0) >= 3);
    expect(await (await read())!.isFailed()).toBe(false);
    await fixture.journal.adopt(late.lane, { pendingNonce: 0 });
    await waitFor('it is accepted', async () => (await read())?.returnvalue?.outcome === 'accepted');
  });

  it('survive a Redis that is killed and restarted', async () => {
    const message = await sign('order-7');
    await fixture.server.kill();
    await fixture.server.start();
    await fixture.redis.ping();
    const job = await settle(message);
    expect(job.returnvalue).toMatchObject({ outcome: 'accepted' });
    await fixture.waitForState(job.returnvalue.jobId, 'FINAL');
  });

  it('are refused for a token that the wallet’s worker does not know, unless they were accepted before', async () => {
    const directory = new WalletDirectory(connection);
    await waitFor('the tokens of the wallet', async () => (await directory.findTokens('main')) !== null);
    const settled = await settle(await sign('order-token', { input: { ...INPUT, token: 'EURC' } }));
    expect(settled.failedReason).toMatch(/^request_invalid: input\.token must be 0x0, an address, or a symbol/);
    const message = await sign('order-known', { input: { ...INPUT, token: 'sei' } });
    const { jobId } = (await settle(message)).returnvalue;
    await directory.publishTokens('main', [{ symbol: 'ETH', address: '0x0', decimals: 18, names: ['eth', '0x0'] }]);
    expect((await settle(message)).returnvalue).toEqual({ outcome: 'known', jobId });
  });
});
