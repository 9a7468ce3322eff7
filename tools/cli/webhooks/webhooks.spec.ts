import { nameLetter } from '@tollgate/agent-jobs';
import { WebhookDeliveries, WebhookTargets, type WebhookTarget } from '@tollgate/webhooks';
import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { NOT_DONE, tollgate, WRONG_USAGE } from '../test/run-tollgate.js';

describe('tollgate webhooks', () => {
  let server: BorrowedRedis;
  let redis: Redis;
  let target: WebhookTarget;
  let deliveries: WebhookDeliveries;

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
    deliveries = new WebhookDeliveries(redis, 'jobs');
    const targets = new WebhookTargets(redis, 'jobs', { rules: { allowPrivateTargets: true } });
    const wanted = { keyId: 'k1', url: 'http://127.0.0.1/', hearsAll: false, events: ['transactionFailed'] };
    const result = await targets.register(wanted);
    if (result.outcome !== 'registered') throw new Error('not registered');
    target = result.target;
  });

  const webhooks = (...args: string[]): Promise<string> => tollgate(['webhooks', ...args, '--redis', server.url]);
  const add = (count: number, most: number) =>
    deliveries.add(
      Array.from({ length: count }, (_, index) => {
        const event = { id: `j1:FINAL:${index}`, type: 'transactionFailed', at: new Date(index).toISOString() };
        return { target, announced: { keyId: 'k1', order: index, event } };
      }),
      { perTarget: most, inAll: most },
    );
  /** Lets deliveries fail for good, and returns their ids. */
  const giveUp = async (count: number): Promise<string[]> => {
    await add(count, count);
    const claimed = await deliveries.claim(target, count, 60_000);
    for (const delivery of claimed) await deliveries.giveUp(target, delivery, 'The target answered 500.');
    return claimed.map(({ event }) => nameLetter(event.id, target.id));
  };

  it('lists, enables and removes targets', async () => {
    expect(JSON.parse(await webhooks('list', '--json'))).toMatchObject([{ id: target.id, disabled: null }]);
    await new WebhookTargets(redis, 'jobs').disable(target, 'gone');
    expect(await webhooks('list')).toMatch(new RegExp(`${target.id}.*transactionFailed.*disabled: gone`));
    expect(await webhooks('list', '--key', 'k2')).toBe('There is no webhook target.');
    await webhooks('enable', target.id);
    expect(await new WebhookTargets(redis, 'jobs').find(target)).toEqual(target);
    await webhooks('remove', target.id);
    await expect(webhooks('remove', target.id)).rejects.toMatchObject(NOT_DONE);
    expect(await webhooks('list')).toBe('There is no webhook target.');
  });

  it('lists and removes a target that cannot be read', async () => {
    await redis.hset('tollgate:{webhooks}:jobs:of:k1', 'wh_1', 'damaged');
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
    await add(3, 2);
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
    const targets = new WebhookTargets(redis, 'jobs');
    await targets.disable(target, 'gone');
    expect(await webhooks('resend', '--all')).toBe('0 deliveries are tried again.');
    await targets.enable(target);
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
