import { randomBytes } from 'node:crypto';

import { useRedis } from '../../../test/harness/stack/borrow-redis.js';
import {
  isWanted,
  UnreadableTargetError,
  WebhookTargets,
  type NewWebhookTarget,
  type WebhookTarget,
} from './webhook-targets.js';

const URL = 'https://example.org/events?token=1';

describe('the webhook targets', () => {
  const redis = useRedis();
  const targets = new WebhookTargets(redis, 'jobs', { limit: 3, rules: { allowPrivateTargets: true } });
  let keyId: string;

  beforeEach(async () => {
    await redis.flushall();
    keyId = randomBytes(6).toString('hex');
  });
  const register = async (changes: Partial<NewWebhookTarget> = {}): Promise<WebhookTarget> => {
    const result = await targets.register({ keyId, url: URL, hearsAll: false, ...changes });
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
    const results = await Promise.all(
      Array.from({ length: 10 }, () => targets.register({ keyId, url: URL, hearsAll: false })),
    );
    expect(results.filter(({ outcome }) => outcome === 'registered')).toHaveLength(3);
    expect(results).toContainEqual({ outcome: 'full', limit: 3 });
    const [first] = (await targets.list(keyId)).targets;
    await targets.remove(first!);
    await register();
    await register({ keyId: 'another' });
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
    const result = await new WebhookTargets(redis, 'jobs').register({ keyId, url, hearsAll: false });
    expect(result).toMatchObject({ outcome: 'refused' });
    expect(JSON.stringify(result)).not.toContain('secret');
    expect((await targets.list(keyId)).targets).toEqual([]);
  });

  it('finds the targets for the events of a key: its own, and those that hear all', async () => {
    const operator = 'operator';
    const [own, ofOperator] = [await register(), await register({ keyId: operator, hearsAll: true })];
    const [disabled, other] = [await register(), await register({ keyId: 'another' })];
    await targets.disable(disabled, 'by_owner');
    expect((await targets.findListeners(keyId)).targets).toEqual([own, ofOperator]);
    expect((await targets.findListeners(other.keyId)).targets).toEqual([other, ofOperator]);
    expect((await targets.findListeners(null)).targets).toEqual([ofOperator]);
    await targets.remove(ofOperator);
    expect((await targets.findListeners(keyId)).targets).toEqual([own]);
    expect((await targets.list()).targets).toHaveLength(3);
  });

  it('disables, enables and removes a target; a removed one does not come back', async () => {
    const target = await register();
    expect(await targets.disable(target, 'gone')).toBe(0);
    expect(await targets.find(target)).toEqual({ ...target, disabled: 'gone' });
    expect(await targets.enable(target)).toEqual(target);
    // Enabling has read the target before it is removed.
    expect(await Promise.all([targets.enable(target), targets.remove(target)])).toEqual([null, true]);
    expect(await targets.remove(target)).toBe(false);
    expect([await targets.enable(target), await targets.disable(target, 'gone')]).toEqual([null, null]);
    expect(await redis.keys('tollgate:{webhooks}*')).toEqual([]);
  });

  it('does not disable a target for what was read before its owner enabled it', async () => {
    const target = await register();
    await targets.disable(target, 'gone');
    const read = await targets.find(target);
    await targets.enable(target);
    expect(await targets.disable(read!, 'gone')).toBeNull();
    expect(await targets.find(target)).toEqual(target);
  });

  it('names a target that cannot be read, beside the others, and removes it', async () => {
    const operator = 'operator';
    const [own, ofOperator] = [await register(), await register({ keyId: operator, hearsAll: true })];
    const key = `tollgate:{webhooks}:jobs:of:${operator}`;
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

  it('keeps the targets of each subject apart', async () => {
    const target = await register({ hearsAll: true });
    const others = new WebhookTargets(redis, 'payments');
    expect(await others.list()).toEqual({ targets: [], unreadable: [] });
    expect((await others.findListeners(null)).targets).toEqual([]);
    expect([await others.find(target), await others.remove(target)]).toEqual([null, false]);
    expect(await targets.find(target)).toEqual(target);
  });

  it.each([
    [{}, true],
    [{ events: ['jobCompleted'] }, true],
    [{ events: ['jobStarted'] }, false],
    [{ operations: ['stake', 'swap'] }, true],
    [{ operations: ['stake'] }, false],
    [{ events: ['jobCompleted'], operations: ['stake'] }, false],
    [{ from: 1_000 }, true],
    [{ from: 1_001 }, false],
  ])('wants what its filters %j name: %s', async (filters, isTaken) => {
    const event = { id: 'j1:FINAL:1', type: 'jobCompleted', operation: 'swap', at: '1970-01-01T00:00:01.000Z' };
    const target = await register({ from: 0, ...filters });
    expect(isWanted(target, { keyId, order: 1_000, event })).toBe(isTaken);
  });

  it('keeps the words of a later release', async () => {
    const later = { ...(await register()), events: ['jobCompleted', 'jobForgotten'], operations: ['teleport'] };
    await redis.hset(`tollgate:{webhooks}:jobs:of:${keyId}`, later.id, JSON.stringify(later));
    await targets.disable(later, 'gone');
    expect(await targets.enable(later)).toEqual(later);
    expect(await targets.list(keyId)).toEqual({ targets: [later], unreadable: [] });
  });
});
