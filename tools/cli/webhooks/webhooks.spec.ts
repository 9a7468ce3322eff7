import {
  AGENT_QUEUE_PREFIX,
  DeadLetters,
  nameDelivery,
  openWebhooksQueue,
  WaitingDeliveries,
  WebhookTargets,
  type WebhookTarget,
} from '@tollgate/agent-jobs';
import { WEBHOOKS_QUEUE } from '@tollgate/common';
import type { AgentJobEvent } from '@tollgate/protocol';
import { UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';

import { waitFor } from '../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { NOT_DONE, tollgate, WRONG_USAGE } from '../test/run-tollgate.js';

describe('tollgate webhooks', () => {
  let server: BorrowedRedis;
  let redis: Redis;
  let target: WebhookTarget;

  beforeAll(async () => {
    server = await borrowRedis();
    redis = new Redis(server.url, { maxRetriesPerRequest: null });
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  beforeEach(async () => {
    await redis.flushall();
    const targets = new WebhookTargets(redis, { rules: { allowPrivateTargets: true } });
    const result = await targets.register({ keyId: 'k1', url: 'http://127.0.0.1/', events: ['transactionFailed'] });
    if (result.outcome !== 'registered') throw new Error('not registered');
    target = result.target;
  });

  const webhooks = (...args: string[]): Promise<string> => tollgate(['webhooks', ...args, '--redis', server.url]);
  /** Lets deliveries fail for good, and returns their ids. */
  const giveUp = async (count: number): Promise<string[]> => {
    const queue = openWebhooksQueue(redis);
    const ids = Array.from({ length: count }, (_, index) => nameDelivery({ id: `j1:FINAL:${index}` }, target));
    for (const jobId of ids) {
      const event = { id: jobId, type: 'transactionFailed' } as AgentJobEvent;
      await queue.add('transactionFailed', { keyId: 'k1', targetId: target.id, event }, { jobId });
    }
    const refuse = () => Promise.reject(new UnrecoverableError('The target answered 500.'));
    const worker = new Worker(WEBHOOKS_QUEUE, refuse, { connection: redis, prefix: AGENT_QUEUE_PREFIX });
    await waitFor('all are given up', async () => (await new DeadLetters(queue).count()) === count);
    await worker.close();
    await queue.close();
    return ids;
  };

  it('lists, enables and removes targets', async () => {
    expect(JSON.parse(await webhooks('list', '--json'))).toMatchObject([{ id: target.id, disabled: null }]);
    await new WebhookTargets(redis).disable(target, 'gone');
    expect(await webhooks('list')).toMatch(new RegExp(`${target.id}.*transactionFailed.*disabled: gone`));
    expect(await webhooks('list', '--key', 'k2')).toBe('There is no webhook target.');
    await webhooks('enable', target.id);
    expect(await new WebhookTargets(redis).find(target)).toEqual(target);
    await webhooks('remove', target.id);
    await expect(webhooks('remove', target.id)).rejects.toMatchObject(NOT_DONE);
    expect(await webhooks('list')).toBe('There is no webhook target.');
  });

  it('lists and removes a target that cannot be read', async () => {
    await redis.hset('tollgate:{webhooks}:of:k1', 'wh_1', 'damaged');
    expect(await webhooks('list')).toMatch(new RegExp(`${target.id}[^]*\n"wh_1" cannot be read`));
    expect(JSON.parse(await webhooks('list', '--json'))).toMatchObject([
      { id: 'wh_1', keyId: 'k1', unreadable: true },
      { id: target.id },
    ]);
    await expect(webhooks('enable', 'wh_1')).rejects.toThrow(/cannot be read\. Remove it/);
    await webhooks('remove', 'wh_1');
    expect(JSON.parse(await webhooks('list', '--json'))).toMatchObject([{ id: target.id }]);
  });

  it('lists how many deliveries wait for a target, and how many were dropped', async () => {
    const queue = openWebhooksQueue(redis);
    const waiting = new WaitingDeliveries(redis, queue);
    for (let index = 0; index < 3; index++) {
      const id = nameDelivery({ id: `j1:FINAL:${index}` }, target);
      const event = { id, type: 'transactionFailed', at: new Date(index).toISOString() } as AgentJobEvent;
      const data = { keyId: 'k1', targetId: target.id, event };
      await queue.add('transactionFailed', data, { jobId: id });
      await waiting.add(target.id, [{ id, data }], 2);
    }
    await queue.close();
    expect(JSON.parse(await webhooks('list', '--json'))).toMatchObject([{ waiting: 2, crowdedOut: 1 }]);
    expect(await webhooks('list')).toMatch(/WAITING +CROWDED OUT[^]* 2 +1 +enabled/);
  });

  it('lists deliveries that were given up, and resends them', async () => {
    const [first, ...others] = await giveUp(3);
    const listed = await webhooks('dead');
    for (const id of [first!, ...others]) expect(listed).toContain(id);
    expect(listed).toContain('The target answered 500.');
    expect(JSON.parse(await webhooks('dead', '--limit', '1', '--json'))).toHaveLength(1);
    expect(await webhooks('dead', '--key', 'k2')).toBe('No delivery was given up.');
    expect(await webhooks('resend', first!)).toBe(`${first!} is tried again.`);
    await expect(webhooks('resend', first!)).rejects.toMatchObject(NOT_DONE);
    expect(await webhooks('resend', '--all', '--key', 'k2')).toBe('0 deliveries are tried again.');
    expect(await webhooks('resend', '--all')).toBe('2 deliveries are tried again.');
    expect(await webhooks('dead')).toBe('No delivery was given up.');
  });

  it.each([
    ['nothing'],
    ['resend'],
    ['resend', 'one', '--all'],
    ['remove'],
    ['remove', 'one', 'another'],
    ['list', 'one'],
    ['list', '--limit', '0'],
    ['list', '--no'],
  ])('refuses %s %s as wrong usage', async (...args) => {
    await expect(webhooks(...args)).rejects.toMatchObject(WRONG_USAGE);
  });
});
