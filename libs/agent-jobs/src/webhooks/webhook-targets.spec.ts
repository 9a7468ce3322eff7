import { ApiKeyStore } from '@tollgate/common';
import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { UnreadableTargetError, WebhookTargets, type NewWebhookTarget, type WebhookTarget } from './webhook-targets.js';

const URL = 'https://example.org/events?token=1';

describe('the webhook targets', () => {
  let server: BorrowedRedis;
  let redis: Redis;
  let targets: WebhookTargets;
  let keyId: string;

  beforeAll(async () => {
    server = await borrowRedis();
    redis = new Redis(server.url);
    targets = new WebhookTargets(redis, { limit: 3, rules: { allowPrivateTargets: true } });
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const newKey = async (scope: 'read' | 'operator'): Promise<string> => {
    const { key } = await new ApiKeyStore(redis).create({ name: 'shop', scopes: [scope], wallets: ['*'] });
    return key.id;
  };
  beforeEach(async () => {
    await redis.flushall();
    keyId = await newKey('read');
  });
  const register = async (changes: Partial<NewWebhookTarget> = {}): Promise<WebhookTarget> => {
    const result = await targets.register({ keyId, url: URL, ...changes });
    if (result.outcome !== 'registered') throw new Error(`not registered: ${JSON.stringify(result)}`);
    return result.target;
  };

  it('stores a registered target for its key', async () => {
    const all = await register();
    const some = await register({ events: ['transactionFailed', 'transactionFailed'], operations: ['swap'] });
    expect(some).toMatchObject({ keyId, url: URL, events: ['transactionFailed'], operations: ['swap'] });
    expect(some).toMatchObject({ hearsAll: false, disabled: null });
    expect(some.id).toMatch(/^wh_[0-9a-f]{24}$/);
    expect((await targets.list(keyId)).targets).toEqual(expect.arrayContaining([all, some]));
    expect(await targets.find(some)).toEqual(some);
    expect((await targets.list('another')).targets).toEqual([]);
    expect(await targets.find({ keyId: 'another', id: some.id })).toBeNull();
  });

  it('accepts no more than the limit of a key, however many come at once', async () => {
    const results = await Promise.all(Array.from({ length: 10 }, () => targets.register({ keyId, url: URL })));
    expect(results.filter(({ outcome }) => outcome === 'registered')).toHaveLength(3);
    expect(results).toContainEqual({ outcome: 'full', limit: 3 });
    const [first] = (await targets.list(keyId)).targets;
    await targets.remove(first!);
    await register();
    await register({ keyId: await newKey('read') });
  });

  it.each([
    'http://example.org/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/',
    'ftp://example.org/',
    'example.org',
    '/events',
    'javascript:alert(1)',
    'https://user:secret@example.org/',
    'https://secret@example.org/',
    `https://example.org/${'x'.repeat(2_048)}`,
    '',
  ])('refuses the address %s', async (url) => {
    const result = await new WebhookTargets(redis).register({ keyId, url });
    expect(result).toMatchObject({ outcome: 'refused' });
    expect(JSON.stringify(result)).not.toContain('secret');
    expect((await targets.list(keyId)).targets).toEqual([]);
  });

  it('finds the targets for the events of a job: those of its key and those of operators', async () => {
    const operator = await newKey('operator');
    const [own, ofOperator] = [await register(), await register({ keyId: operator })];
    const [disabled, other] = [await register(), await register({ keyId: await newKey('read') })];
    await targets.disable(disabled, 'by_owner');
    expect((await targets.findListeners(keyId)).targets).toEqual([own, ofOperator]);
    expect((await targets.findListeners(other.keyId)).targets).toEqual([other, ofOperator]);
    expect((await targets.findListeners(operator)).targets).toEqual([ofOperator]);
    await targets.remove(ofOperator);
    expect((await targets.findListeners(keyId)).targets).toEqual([own]);
    expect((await targets.list()).targets).toHaveLength(3);
  });

  it('disables, enables and removes a target; a removed one does not come back', async () => {
    const target = await register();
    expect(await targets.disable(target, 'gone')).toEqual({ ...target, disabled: 'gone' });
    expect(await targets.find(target)).toEqual({ ...target, disabled: 'gone' });
    expect(await targets.enable(target)).toEqual(target);
    // Enabling has read the target before it is removed.
    expect(await Promise.all([targets.enable(target), targets.remove(target)])).toEqual([null, true]);
    expect(await targets.remove(target)).toBe(false);
    expect(await targets.enable(target)).toBeNull();
    expect(await redis.keys('tollgate:{webhooks}*')).toEqual([]);
  });

  it('names a target that cannot be read, beside the others, and removes it', async () => {
    const operator = await newKey('operator');
    const [own, ofOperator] = [await register(), await register({ keyId: operator })];
    const key = `tollgate:{webhooks}:of:${operator}`;
    await redis.hset(key, { wh_1: 'damaged', wh_2: '{"id":"wh_2"}', wh_3: JSON.stringify(ofOperator) });
    const unreadable = ['wh_1', 'wh_2', 'wh_3'].map((id) => ({ keyId: operator, id }));
    const both = expect.arrayContaining([own, ofOperator]) as unknown;
    const found = { targets: both, unreadable: expect.arrayContaining(unreadable) as unknown };
    expect([await targets.list(), await targets.findListeners(keyId)]).toEqual([found, found]);
    await expect(targets.find(unreadable[0]!)).rejects.toThrow(UnreadableTargetError);
    await expect(targets.enable(unreadable[0]!)).rejects.toThrow(UnreadableTargetError);
    for (const name of unreadable) expect(await targets.remove(name)).toBe(true);
    expect(await targets.list()).toEqual({ targets: both, unreadable: [] });
  });

  it('keeps the words of a later release', async () => {
    const later = { ...(await register()), events: ['jobCompleted', 'jobForgotten'], operations: ['teleport'] };
    await redis.hset(`tollgate:{webhooks}:of:${keyId}`, later.id, JSON.stringify(later));
    await targets.disable(later, 'gone');
    expect(await targets.enable(later)).toEqual(later);
    expect(await targets.list(keyId)).toEqual({ targets: [later], unreadable: [] });
  });
});
