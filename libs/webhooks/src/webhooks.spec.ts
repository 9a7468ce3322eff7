import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { ApiKeyStore } from '@tollgate/http';

import { waitFor } from '../../../test/harness/retry.js';
import { SECRET, useWebhooks } from '../test/webhook-fixture.js';
import { deriveWebhookSecret } from './post-event.js';
import type { WebhookTarget } from './webhook-targets.js';

describe('webhooks', () => {
  const fixture = useWebhooks();
  let keyId: string;

  beforeEach(async () => {
    keyId = await fixture.createKey();
  });

  const never = (): void => undefined;
  const listDead = (target: WebhookTarget) => fixture.webhooks.deliveries.listDead([target], 9);

  it('post an event, signed, to every target that wants it', async () => {
    const { receiver, target } = await fixture.register(keyId);
    const operator = await fixture.register(await fixture.createKey(), { hearsAll: true });
    const unasked = [
      await fixture.register(keyId, { events: ['jobCompleted'] }),
      await fixture.register(await fixture.createKey()),
    ];
    const { take } = fixture.startWebhooks();
    const announced = fixture.event(keyId);
    await take(announced);
    expect(await fixture.waitForOutcomes(2)).toEqual({ delivered: 2 });
    const [post] = receiver.posts;
    expect(post).toMatchObject({ method: 'POST', url: '/events?token=canary-in-url' });
    expect(JSON.parse(post!.body)).toEqual(announced.event);
    expect(post!.headers).toMatchObject({
      'content-type': 'application/json',
      'tollgate-event-id': announced.event.id,
    });
    const timestamp = String(post!.headers['tollgate-timestamp']);
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
    const secret = deriveWebhookSecret(SECRET, target.id);
    const expected = createHmac('sha256', secret).update(`${timestamp}.${post!.body}`).digest('hex');
    expect(post!.headers['tollgate-signature']).toBe(`v1=${expected}`);
    expect(operator.receiver.posts).toHaveLength(1);
    expect(unasked.flatMap((one) => one.receiver.posts)).toEqual([]);
  });

  it.each([
    ['500', 500],
    ['404', 404],
    ['429 with a time', (response: ServerResponse) => response.writeHead(429, { 'Retry-After': '1' }).end()],
    ['a broken connection', (response: ServerResponse) => response.destroy()],
    ['nothing', never],
  ])('try again after %s, with the same body under a new signature', async (_, answer) => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(answer, 204);
    const { take } = fixture.startWebhooks({ settings: { webhookTimeoutMs: 1_000 } });
    await take(fixture.event(keyId));
    expect(await fixture.waitForOutcomes(2)).toEqual({ failed: 1, delivered: 1 });
    const [first, second] = receiver.posts;
    expect(second!.body).toBe(first!.body);
    expect(await fixture.webhooks.deliveries.count(target)).toEqual({ waiting: 0, dead: 0, crowdedOut: 0 });
  });

  it('do not follow a redirect, and give up after the last attempt', async () => {
    const { receiver: elsewhere } = await fixture.register(await fixture.createKey());
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith((response) => response.writeHead(307, { Location: elsewhere.url }).end());
    const { take } = fixture.startWebhooks();
    await take(fixture.event(keyId));
    expect(await fixture.waitForOutcomes(3)).toEqual({ failed: 2, dead: 1 });
    expect(elsewhere.posts).toEqual([]);
    expect(await listDead(target)).toMatchObject([{ attempts: 3, reason: 'The target answered 307.' }]);
    receiver.answerWith(204);
    await fixture.webhooks.deliveries.resendAll(target);
    expect(await fixture.waitForOutcomes(4)).toMatchObject({ delivered: 1 });
  });

  it('are not blocked by an answer that never ends', async () => {
    const { receiver } = await fixture.register(keyId);
    let ended = false;
    receiver.answerWith((response) => {
      response.writeHead(200);
      const pouring = setInterval(() => response.write('x'.repeat(1_000)), 1);
      response.on('close', () => {
        clearInterval(pouring);
        ended = true;
      });
    });
    const { take } = fixture.startWebhooks();
    await take(fixture.event(keyId));
    expect(await fixture.waitForOutcomes(1)).toEqual({ delivered: 1 });
    await waitFor('the answer is cut off', () => ended);
  });

  it('stop for a target that answers 410, and drop what waits for it', async () => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(500, 410);
    const { take } = fixture.startWebhooks({ settings: { webhookConcurrencyPerTarget: 1 } });
    await take(fixture.event(keyId), fixture.event(keyId));
    expect(await fixture.waitForOutcomes(3)).toEqual({ failed: 1, gone: 1, dropped: 1 });
    expect(await fixture.webhooks.targets.find(target)).toMatchObject({ disabled: 'gone' });
    await take(fixture.event(keyId));
    expect(await fixture.webhooks.deliveries.count(target)).toMatchObject({ waiting: 0 });
  });

  it('count as delivered by the status alone, also when the answer is compressed', async () => {
    const { receiver } = await fixture.register(keyId);
    receiver.answerWith((response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('x'));
    await fixture.startWebhooks().take(fixture.event(keyId));
    expect(await fixture.waitForOutcomes(1)).toEqual({ delivered: 1 });
  });

  it('do not stop for a target that its owner has enabled since the post that is answered 410', async () => {
    const { receiver, target } = await fixture.register(keyId);
    let answer = never;
    receiver.answerWith((response) => (answer = () => void response.writeHead(410).end()));
    const { take } = fixture.startWebhooks();
    await take(fixture.event(keyId));
    await waitFor('it is posted', () => receiver.posts.length === 1);
    await fixture.webhooks.targets.disable(target, 'by_owner');
    await fixture.webhooks.targets.enable(target);
    answer();
    await fixture.waitForOutcomes(1);
    expect(await fixture.webhooks.targets.find(target)).toMatchObject({ disabled: null });
  });

  it.each(['revoked', 'revoked and unreadable'])('drop what waits for a target whose key is %s', async (how) => {
    const { receiver, target } = await fixture.register(keyId);
    await fixture.startWebhooks({ isIdle: true }).take(fixture.event(keyId), fixture.event(keyId));
    await new ApiKeyStore(fixture.redis).revoke(keyId);
    if (how !== 'revoked') await fixture.redis.hset('tollgate:{api-keys}', keyId, 'damaged');
    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(2)).toEqual({ dropped: 2 });
    expect(receiver.posts).toEqual([]);
    expect(await fixture.webhooks.targets.find(target)).toMatchObject({ disabled: 'key_revoked' });
  });

  it('let a target that never answers delay only its own events, within the limits of posts', async () => {
    const { receiver: hanging } = await fixture.register(keyId);
    const { receiver: well } = await fixture.register(keyId);
    hanging.answerWith(never);
    const settings = { webhookConcurrency: 4, webhookConcurrencyPerTarget: 2, webhookTimeoutMs: 60_000 };
    const { take } = fixture.startWebhooks({ settings });
    await take(...Array.from({ length: 50 }, () => fixture.event(keyId)));
    expect(await fixture.waitForOutcomes(50)).toEqual({ delivered: 50 });
    expect(well.posts).toHaveLength(50);
    expect(hanging.posts).toHaveLength(2);
  });

  // Prevents: those that are down and have been due for long take every free post, and the others wait for hours.
  it('reach a target soon, however many others never answer', async () => {
    const hanging = await Promise.all([1, 2, 3].map(() => fixture.register(keyId)));
    for (const { receiver } of hanging) receiver.answerWith(never);
    const idle = fixture.startWebhooks({ isIdle: true });
    await idle.take(...Array.from({ length: 20 }, () => fixture.event(keyId)));
    const otherKey = await fixture.createKey();
    const { receiver: well } = await fixture.register(otherKey);
    const before: number[] = [];
    well.answerWith((response) => {
      before.push(hanging.reduce((sum, { receiver }) => sum + receiver.posts.length, 0));
      response.writeHead(204).end();
    });
    await idle.take(fixture.event(otherKey));
    const settings = { webhookConcurrency: 2, webhookConcurrencyPerTarget: 2, webhookTimeoutMs: 1_000 };
    fixture.startWebhooks({ settings });
    await waitFor('it is posted', () => before.length === 1);
    // One turn of each, of 20 events; on a busy machine a second one begins before the post arrives.
    expect(before[0]).toBeLessThanOrEqual(12);
  });

  it('drop and count the oldest of a target for which too many wait', async () => {
    const { receiver } = await fixture.register(keyId);
    const idle = fixture.startWebhooks({ isIdle: true, settings: { webhookWaitingPerTarget: 2 } });
    const events = Array.from({ length: 5 }, () => fixture.event(keyId));
    for (const event of events) await idle.take(event);
    expect(await fixture.waitForOutcomes(3)).toEqual({ crowded_out: 3 });
    fixture.startWebhooks();
    await fixture.waitForOutcomes(2);
    const ids = receiver.posts.map(({ headers }) => headers['tollgate-event-id']);
    expect(ids.sort()).toEqual(events.slice(3).map(({ event }) => event.id));
  });

  it('are broken off when the process stops, and posted by the next one, without counting an attempt', async () => {
    const { receiver } = await fixture.register(keyId);
    receiver.answerWith(never, 204);
    const first = fixture.startWebhooks({ settings: { webhookTimeoutMs: 60_000, webhookAttempts: 1 } });
    await first.take(fixture.event(keyId));
    await waitFor('it is being posted', () => receiver.posts.length === 1);
    await first.close();
    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(1)).toEqual({ delivered: 1 });
    expect(receiver.posts).toHaveLength(2);
  });

  it('leave no secret in Redis, nor what a target answers', async () => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(500);
    const { take } = fixture.startWebhooks({ settings: { webhookAttempts: 1 } });
    await take(fixture.event(keyId));
    await fixture.waitForOutcomes(1);
    const all = await fixture.dump();
    expect(all).toContain('The target answered 500.');
    expect(all).not.toContain(SECRET);
    expect(all).not.toContain(deriveWebhookSecret(SECRET, target.id));
    expect(all).not.toContain('a body that is never read');
  });
});
