import {
  AgentJobsError,
  createJobsClient,
  enqueueAgentJob,
  type FollowedEvent,
  type JobsClient,
} from '@tollgate/client/jobs';
import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX } from '@tollgate/protocol';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

import { AgentsFixture } from './start-agents.js';

const JOB = { operation: 'stake', wallet: 'main', input: { amount: '1.5' } } as const;

describe('the jobs client at a gateway', () => {
  let agents: AgentsFixture;
  let client: JobsClient;

  beforeAll(async () => {
    agents = await AgentsFixture.start({
      AGENT_SECRET: 'an-agent-secret-of-more-than-32-characters',
      ALLOW_PRIVATE_TARGETS: 'true',
    });
    client = createJobsClient({
      baseUrl: agents.gateway.url,
      apiKey: (await agents.createKey(['submit', 'read'])).token,
    });
  });

  afterAll(() => agents.stop());

  it('submits a job once per idempotency key, finds it, and cancels it', async () => {
    const first = await client.submit(JOB, { idempotencyKey: 'order-1' });
    expect(first).toMatchObject({ isReplay: false, job: { ...JOB, state: 'PLANNED' } });
    const again = await client.submit(JOB, { idempotencyKey: 'order-1' });
    expect(again).toMatchObject({ isReplay: true, job: { id: first.job.id } });
    const other = { ...JOB, input: { amount: '2' } };
    await expect(client.submit(other, { idempotencyKey: 'order-1' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
      status: 409,
    });
    expect(await client.get(first.job.id)).toMatchObject({ id: first.job.id, input: JOB.input });
    expect(await client.cancel(first.job.id)).toMatchObject({ state: 'CANCELLED' });
    expect(await client.waitFor(first.job.id)).toMatchObject({ state: 'CANCELLED' });
    const retried = await client.retry(first.job.id);
    expect(retried.job).toMatchObject({ retryOf: first.job.id, state: 'PLANNED' });
  });

  it('lists jobs across pages', async () => {
    const ids = [];
    for (let count = 0; count < 5; count++) ids.unshift((await client.submit(JOB)).job.id);
    const found: string[] = [];
    for await (const { id } of client.list({ pageSize: 2, operation: 'stake' })) if (found.push(id) === 5) break;
    expect(found).toEqual(ids);
  });

  it('reports every problem of a request', async () => {
    const job = { operation: 'transfer', wallet: 'main', input: { amount: '-1', to: 'me', nonce: 3 } };
    const error: unknown = await client.submit(job as never).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AgentJobsError);
    expect(error).toMatchObject({
      code: 'request_invalid',
      problems: [
        'input.nonce must be omitted: the worker sets it',
        expect.stringMatching(/^input\.amount must be/),
        expect.stringMatching(/^input\.to must be/),
      ],
    });
  });

  it('reports static mistakes of a job and of a dry run as a typed error', async () => {
    await agents.publishTokens();
    const job = {
      operation: 'swap',
      wallet: 'main',
      input: { amount: '0.0000001', fromToken: 'USDC', toToken: 'EURC' },
    } as const;
    for (const ask of [() => client.submit(job), () => client.dryRun(job)]) {
      const error: unknown = await ask().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(AgentJobsError);
      expect(error).toMatchObject({
        code: 'request_invalid',
        status: 400,
        failure: null,
        problems: [
          'input.amount must have at most 6 decimals, as USDC has',
          expect.stringMatching(/^input\.toToken must be 0x0, an address, or a symbol of .*: SEI, USDC$/),
        ],
      });
    }
  });

  it('receives events, and continues from its position', async () => {
    const start = await client.submit(JOB);
    const controller = new AbortController();
    const heard: FollowedEvent[] = [];
    const events = client.events({ types: ['transactionFailed'], signal: controller.signal });
    const hear = async (): Promise<void> => {
      const { value } = await events.next();
      if (value) heard.push(value);
    };
    const hearing = hear();
    // Only new events are sent, and the client cannot see when the stream begins, so jobs are cancelled until the
    // stream reports one.
    while (heard.length === 0) {
      await client.cancel((await client.submit(JOB)).job.id);
      await Promise.race([hearing, new Promise((resolve) => setTimeout(resolve, 100))]);
    }
    controller.abort();
    await client.cancel(start.job.id);
    const [{ lastEventId }] = heard as [FollowedEvent];
    for await (const event of client.events({ lastEventId, jobId: start.job.id })) {
      expect(event).toMatchObject({ jobId: start.job.id, type: 'transactionFailed', error: { code: 'JOB_CANCELLED' } });
      break;
    }
  });

  it('registers, lists and removes webhooks', async () => {
    const { secret, ...webhook } = await client.webhooks.register({ url: 'http://127.0.0.1:9/', operations: ['swap'] });
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await client.webhooks.list()).toEqual([webhook]);
    expect(await client.webhooks.listDeadLetters()).toEqual([]);
    await client.webhooks.remove(webhook.id);
    expect(await client.webhooks.list()).toEqual([]);
  });

  it('is refused without a key that has the scope', async () => {
    const reader = createJobsClient({ baseUrl: agents.gateway.url, apiKey: (await agents.createKey(['read'])).token });
    await expect(reader.submit(JOB)).rejects.toMatchObject({ code: 'scope_missing', status: 403 });
  });

  it('puts signed jobs into the queue, each message once', async () => {
    const connection = new Redis(agents.server.url, { maxRetriesPerRequest: null });
    const queue = new Queue(AGENT_JOBS_QUEUE, { connection, prefix: AGENT_QUEUE_PREFIX });
    const key = { keyId: '0123456789ab', secret: 's', idempotencyKey: 'order-9' };
    const { queueJobId } = await enqueueAgentJob(queue, JOB, key);
    const kept = await queue.getJob(queueJobId);
    expect(kept?.data).toMatchObject({ ...JOB, version: 1, keyId: key.keyId, idempotencyKey: 'order-9' });
    expect(JSON.stringify(kept?.data)).not.toContain('"secret"');
    const refused = enqueueAgentJob(queue, JOB, { ...key, idempotencyKey: 'two words' });
    await expect(refused).rejects.toThrow(/visible ASCII/);
    await queue.close();
    connection.disconnect();
  });
});
