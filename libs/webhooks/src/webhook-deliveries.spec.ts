import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../../test/harness/retry.js';
import { useRedis } from '../../../test/harness/stack/borrow-redis.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookTargets, type WebhookTarget } from './webhook-targets.js';

const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;

describe('the deliveries to webhook targets', () => {
  const redis = useRedis();
  const targets = new WebhookTargets(redis, 'jobs', { rules: { allowPrivateTargets: true } });
  const deliveries = new WebhookDeliveries(redis, 'jobs');
  let target: WebhookTarget;
  let other: WebhookTarget;

  beforeEach(async () => {
    await redis.flushall();
    [target, other] = [await register('one'), await register('two')];
  });

  const register = async (keyId: string): Promise<WebhookTarget> => {
    const result = await targets.register({ keyId, url: 'http://127.0.0.1/', hearsAll: false });
    if (result.outcome !== 'registered') throw new Error(`not registered: ${JSON.stringify(result)}`);
    return result.target;
  };
  const announce = (number: number, at = Date.now()) => ({
    keyId: 'one',
    order: number,
    event: { id: `e:${number}`, type: 'jobCompleted', at: new Date(at).toISOString() },
  });
  const add = (numbers: readonly number[], { to = target, most = 100, inAll = 1_000 } = {}) =>
    deliveries.add(
      numbers.map((number) => ({ target: to, announced: announce(number) })),
      { perTarget: most, inAll },
    );
  const claim = async (from = target, leaseMs = LEASE_MS): Promise<string[]> =>
    (await deliveries.claim(from, 100, leaseMs)).map(({ event }) => event.id);
  const claimOne = async () => (await deliveries.claim(target, 1, LEASE_MS))[0]!;
  const counts = (of = target) => deliveries.count(of);
  const listDead = async () => (await deliveries.listDead([target, other], 9)).map(({ event }) => event.id);

  it('are claimed by one process each, and due again after the lease', async () => {
    await add([1, 2, 3]);
    expect((await deliveries.listDue()).due).toEqual([{ keyId: 'one', id: target.id }]);
    const claimed = await Promise.all([claim(), claim()]);
    expect(claimed.flat().sort()).toEqual(['e:1', 'e:2', 'e:3']);
    const { due, nextInMs } = await deliveries.listDue();
    expect([due, nextInMs > 0 && nextInMs <= LEASE_MS]).toEqual([[], true]);
    await add([1, 2, 3], { to: other });
    await claim(other, 1);
    await waitFor('it is due again', async () => (await deliveries.listDue()).due.length === 1);
    expect(await claim(other)).toEqual(['e:1', 'e:2', 'e:3']);
  });

  it('are added once, however often', async () => {
    await add([1, 2]);
    expect(await claim()).toHaveLength(2);
    await add([1, 2, 3]);
    expect(await claim()).toEqual(['e:3']);
    expect(await counts()).toEqual({ waiting: 3, dead: 0, crowdedOut: 0 });
  });

  it('are added at once for however many targets', async () => {
    const numbers = Array.from({ length: 30_000 }, (_, index) => index);
    await add(numbers, { most: 30_000, inAll: 30_000 });
    expect(await counts()).toMatchObject({ waiting: 30_000 });
  });

  it('end when they are delivered; the next attempt of the others is due after its delay, with its count', async () => {
    await add([1, 2, 3]);
    const [one, two, three] = await deliveries.claim(target, 9, LEASE_MS);
    await deliveries.end(target, one!);
    await deliveries.retry(target, { ...two!, attempts: 1 }, 600_000);
    expect(await counts()).toMatchObject({ waiting: 2 });
    expect(await claim()).toEqual([]);
    await deliveries.retry(target, { ...three!, attempts: 1 }, 1);
    await sleep(2);
    expect(await deliveries.claim(target, 9, LEASE_MS)).toMatchObject([{ event: three!.event, attempts: 1 }]);
  });

  // Prevents: a target that is down for long fills Redis, and so stops everything.
  it('are bounded for a target: the oldest are dropped, and none of another target', async () => {
    await add([1, 2], { to: other });
    expect(await add([1, 2, 3, 4], { most: 3 })).toEqual([{ target: target.id, dropped: 1 }]);
    await claim();
    expect(await add([5, 6, 7], { most: 3 })).toEqual([{ target: target.id, dropped: 3 }]);
    expect(await claim()).toEqual(['e:5', 'e:6', 'e:7']);
    expect([await counts(), await counts(other)]).toMatchObject([
      { waiting: 3, crowdedOut: 4 },
      { waiting: 2, crowdedOut: 0 },
    ]);
  });

  // Prevents: many targets that are down fill the Redis of the ledger, and payments stop.
  it('are bounded in all, with the dead letters: the target with the most loses its oldest', async () => {
    await add([1, 2, 3, 4]);
    await deliveries.giveUp(target, await claimOne(), 'never');
    expect(await add([5, 6], { to: other, inAll: 5 })).toEqual([{ target: target.id, dropped: 1 }]);
    expect([await counts(), await counts(other)]).toEqual([
      { waiting: 3, dead: 0, crowdedOut: 1 },
      { waiting: 2, dead: 0, crowdedOut: 0 },
    ]);
    expect(await add([7], { to: target, inAll: 5 })).toEqual([{ target: target.id, dropped: 1 }]);
    expect(await claim()).toEqual(['e:3', 'e:4', 'e:7']);
    for (const delivery of await deliveries.claim(other, 9, LEASE_MS)) await deliveries.end(other, delivery);
    expect(await add([8, 9], { inAll: 5 })).toEqual([]);
    expect(await counts()).toMatchObject({ waiting: 5 });
  });

  it('are bounded however many processes add at once', async () => {
    const batches = Array.from({ length: 12 }, (_, index) => [1, 2, 3, 4, 5].map((one) => index * 5 + one));
    await Promise.all(batches.map((batch) => add(batch, { most: 5 })));
    expect(await claim()).toEqual([56, 57, 58, 59, 60].map((number) => `e:${number}`));
    expect(await counts()).toMatchObject({ waiting: 5, crowdedOut: 55 });
  });

  it('are kept when they are given up, and sent again with all attempts, once', async () => {
    await add([1, 2]);
    for (const delivery of await deliveries.claim(target, 9, LEASE_MS)) {
      await deliveries.giveUp(target, { ...delivery, attempts: 17 }, 'The target answered 500.');
    }
    expect(await counts()).toMatchObject({ waiting: 0, dead: 2 });
    const letter = { target, attempts: 17, reason: 'The target answered 500.', failedAtMs: expect.any(Number) };
    expect(await deliveries.listDead([target], 1)).toEqual([
      { ...letter, event: expect.objectContaining({ id: 'e:2' }) },
    ]);
    expect(await deliveries.resend(other, 'e:1')).toBe(false);
    const resent = await Promise.all([deliveries.resend(target, 'e:1'), deliveries.resend(target, 'e:1')]);
    expect(resent.sort()).toEqual([false, true]);
    expect(await claimOne()).toMatchObject({ event: { id: 'e:1' }, attempts: 0 });
    expect([await deliveries.resendAll(target), await deliveries.resendAll(target)]).toEqual([1, 0]);
    expect(await claimOne()).toMatchObject({ event: { id: 'e:2' }, attempts: 0 });
    expect(await listDead()).toEqual([]);
  });

  const giveUpAll = async () => {
    for (const delivery of await deliveries.claim(target, 1_000, LEASE_MS)) {
      await deliveries.giveUp(target, delivery, 'never');
    }
  };

  it('do not crowd out what follows when they are sent again, also where the order is a number', async () => {
    const addOf = (from: number, to: number) =>
      deliveries.add([{ target, announced: announce(to) }], { perTarget: 2, inAll: 9 }, { from, to });
    await addOf(0, 1);
    await addOf(1, 2);
    await giveUpAll();
    await deliveries.resendAll(target);
    await addOf(2, 3);
    expect(await claim()).toEqual(['e:2', 'e:3']);
  });

  it('are sent again once each, also when they are given up again meanwhile', async () => {
    await add(
      Array.from({ length: 250 }, (_, index) => index),
      { most: 250 },
    );
    await giveUpAll();
    let isOver = false;
    const failing = (async () => {
      while (!isOver) await giveUpAll();
    })();
    const resent = await deliveries.resendAll(target);
    isOver = true;
    await failing;
    expect(resent).toBe(250);
  });

  // A copy may have one without the other.
  it('are sent again beside those whose content is lost', async () => {
    await add(
      Array.from({ length: 150 }, (_, index) => index),
      { most: 150 },
    );
    await giveUpAll();
    const lost = Array.from({ length: 100 }, (_, index) => `e:${index + 50}`);
    await redis.hdel(`tollgate:{webhooks}:jobs:letters:one/${target.id}`, ...lost);
    expect(await deliveries.resendAll(target)).toBe(50);
    expect(await counts()).toMatchObject({ waiting: 50, dead: 0 });
  });

  it('stay with the process that has claimed them, whatever the one before writes late', async () => {
    await add([1]);
    const [late] = await deliveries.claim(target, 1, 0);
    await sleep(2);
    expect(await claim()).toEqual(['e:1']);
    await deliveries.retry(target, late!, 0);
    expect(await claim()).toEqual([]);
    await deliveries.giveUp(target, late!, 'never');
    expect(await counts()).toMatchObject({ waiting: 1, dead: 0 });
    await deliveries.end(target, late!);
    expect(await counts()).toMatchObject({ waiting: 0, dead: 0 });
  });

  it('are forgotten as dead letters after 30 days', async () => {
    await add([1, 2]);
    await deliveries.giveUp(target, await claimOne(), 'never');
    await redis.zadd(`tollgate:{webhooks}:jobs:dead:one/${target.id}`, Date.now() - 30 * DAY_MS - 1_000, 'e:1');
    await deliveries.giveUp(target, await claimOne(), 'never');
    expect(await listDead()).toEqual(['e:2']);
    for (const part of ['dead', 'letters']) {
      const expiresInMs = await redis.pttl(`tollgate:{webhooks}:jobs:${part}:one/${target.id}`);
      expect(Math.abs(expiresInMs - 30 * DAY_MS)).toBeLessThan(60_000);
    }
  });

  it('are dropped when the target is disabled, while its dead letters stay', async () => {
    await add([1, 2, 3]);
    await deliveries.giveUp(target, await claimOne(), 'never');
    const posted = await claimOne();
    expect(await targets.disable(target, 'gone')).toBe(2);
    await deliveries.retry(target, posted, 0);
    await deliveries.giveUp(target, posted, 'never');
    expect(await counts()).toMatchObject({ waiting: 0, dead: 1 });
    expect((await deliveries.listDue()).due).toEqual([]);
    expect(await claim()).toEqual([]);
  });

  it('leave nothing of a target that is removed, also while its events are added and posted', async () => {
    await add([1, 2, 3, 4], { most: 3 });
    await deliveries.giveUp(target, await claimOne(), 'never');
    const posted = await claimOne();
    await targets.remove(target);
    await targets.remove(other);
    await deliveries.retry(target, posted, 0);
    await deliveries.giveUp(target, posted, 'never');
    await add([5]);
    expect(await deliveries.resend(target, 'e:2')).toBe(false);
    expect(await redis.keys('tollgate:{webhooks}*')).toEqual([]);
  });

  it('move the position of their source with them, from where it is alone', async () => {
    const addOf = (from: number, to: number) =>
      deliveries.add([{ target, announced: announce(to) }], { perTarget: 9, inAll: 9 }, { from, to });
    expect(await deliveries.readPosition()).toBe(0);
    await addOf(0, 7);
    await expect(addOf(0, 8)).rejects.toThrow('the position was moved meanwhile');
    await addOf(7, 9);
    expect([await deliveries.readPosition(), await claim()]).toEqual([9, ['e:7', 'e:9']]);
  });

  it('are removed with the requests that they tell of', async () => {
    const times = [1, 2, 3, 4].map((day) => Date.now() - day * DAY_MS);
    await deliveries.add(
      times.map((at, index) => ({ target, announced: announce(index, at) })),
      { perTarget: 9, inAll: 9 },
    );
    const claimed = await deliveries.claim(target, 9, 0);
    for (const delivery of [claimed[0]!, claimed[2]!]) await deliveries.giveUp(target, delivery, 'never');
    await deliveries.removeBefore([target, other], Date.now() - 2.5 * DAY_MS);
    expect([await claim(), await listDead()]).toEqual([['e:1'], ['e:0']]);
  });
});
