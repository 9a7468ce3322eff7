import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { toAgentJobEvent } from '@tollgate/agent-jobs';
import { ApiKeyStore, deriveWebhookSecret } from '@tollgate/common';

import { waitFor } from '../../../../test/harness/retry.js';
import { AGENT_SECRET, WebhookFixture } from '../../test/webhook-fixture.js';

describe('webhooks', () => {
  let fixture: WebhookFixture;
  let keyId: string;

  beforeAll(async () => {
    fixture = await WebhookFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(async () => {
    keyId = await fixture.createKey();
  });

  afterEach(() => fixture.clear());

  const never = (): void => undefined;

  it('post an event, signed, to every target that wants it', async () => {
    const { receiver, target } = await fixture.register(keyId);
    const operator = await fixture.register(await fixture.createKey('operator'));
    const unasked = [
      await fixture.register(keyId, { events: ['jobCompleted'] }),
      await fixture.register(keyId, { operations: ['stake'] }),
      await fixture.register(await fixture.createKey()),
    ];
    const { consumer } = fixture.startWebhooks();
    const event = fixture.event(keyId);
    await consumer.take([event], 'treasury');
    expect(await fixture.waitForOutcomes(2)).toEqual({ delivered: 2 });
    const [post] = receiver.posts;
    expect(post).toMatchObject({ method: 'POST', url: '/events?token=canary-in-url' });
    expect(JSON.parse(post!.body)).toEqual(toAgentJobEvent(event, 'treasury'));
    expect(post!.headers).toMatchObject({ 'content-type': 'application/json', 'tollgate-event-id': event.id });
    const timestamp = String(post!.headers['tollgate-timestamp']);
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
    const secret = deriveWebhookSecret(AGENT_SECRET, target.id);
    const expected = createHmac('sha256', secret).update(`${timestamp}.${post!.body}`).digest('hex');
    expect(post!.headers['tollgate-signature']).toBe(`v1=${expected}`);
    expect(operator.receiver.posts).toHaveLength(1);
    expect(unasked.flatMap((one) => one.receiver.posts)).toEqual([]);
  });

  it('do not post events from before the target was registered', async () => {
    const { receiver, target } = await fixture.register(keyId);
    const { consumer } = fixture.startWebhooks();
    const [before, after] = [fixture.event(keyId, { atMs: target.createdAtMs - 1 }), fixture.event(keyId)];
    await consumer.take([before, after], 'treasury');
    await fixture.waitForOutcomes(1);
    expect(receiver.posts.map(({ headers }) => headers['tollgate-event-id'])).toEqual([after.id]);
  });

  it('do not post a repeated event again', async () => {
    const { receiver } = await fixture.register(keyId);
    const { consumer } = fixture.startWebhooks();
    const [first, second] = [fixture.event(keyId), fixture.event(keyId)];
    await consumer.take([first], 'treasury');
    await fixture.waitForOutcomes(1);
    await consumer.take([first, second], 'treasury');
    await fixture.waitForOutcomes(2);
    expect(receiver.posts).toHaveLength(2);
    expect(new Set(receiver.posts.map(({ headers }) => headers['tollgate-event-id']))).toEqual(
      new Set([first.id, second.id]),
    );
  });

  it.each([
    ['500', 500],
    ['404', 404],
    ['429 with a time', (response: ServerResponse) => response.writeHead(429, { 'Retry-After': '1' }).end()],
    ['a broken connection', (response: ServerResponse) => response.destroy()],
    ['nothing', never],
  ])('try again after %s, with the same body under a new signature', async (_, answer) => {
    const { receiver } = await fixture.register(keyId);
    receiver.answerWith(answer, 204);
    const { consumer } = fixture.startWebhooks();
    await consumer.take([fixture.event(keyId)], 'treasury');
    expect(await fixture.waitForOutcomes(2)).toEqual({ failed: 1, delivered: 1 });
    const [first, second] = receiver.posts;
    expect(second!.body).toBe(first!.body);
    expect(await fixture.deadLetters.count()).toBe(0);
  });

  it('do not follow a redirect', async () => {
    const { receiver: elsewhere } = await fixture.register(await fixture.createKey());
    const { receiver } = await fixture.register(keyId);
    receiver.answerWith((response) => response.writeHead(307, { Location: elsewhere.url }).end());
    const { consumer } = fixture.startWebhooks({ settings: { webhookAttempts: 1 } });
    await consumer.take([fixture.event(keyId)], 'treasury');
    expect(await fixture.waitForOutcomes(1)).toEqual({ dead: 1 });
    expect(elsewhere.posts).toEqual([]);
    await waitFor('it is listed', async () => (await fixture.deadLetters.count()) === 1);
    expect(await fixture.deadLetters.list()).toMatchObject([{ reason: 'The target answered 307.' }]);
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
    const { consumer } = fixture.startWebhooks();
    await consumer.take([fixture.event(keyId)], 'treasury');
    expect(await fixture.waitForOutcomes(1)).toEqual({ delivered: 1 });
    await waitFor('the answer is cut off', () => ended);
  });

  it('list undelivered events for the key of their target, and send them again on request', async () => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(503);
    const { consumer } = fixture.startWebhooks();
    const [first, second] = [fixture.event(keyId), fixture.event(keyId)];
    await consumer.take([first, second], 'treasury');
    expect(await fixture.waitForOutcomes(6)).toEqual({ failed: 4, dead: 2 });
    await waitFor('both are listed', async () => (await fixture.deadLetters.count()) === 2);
    const letters = await fixture.deadLetters.list({ keyId });
    const letter = letters.find(({ event }) => event.id === first.id);
    expect(letter).toEqual({
      id: expect.not.stringContaining(':'),
      ...{ keyId, targetId: target.id, event: toAgentJobEvent(first, 'treasury'), attempts: 3 },
      failedAtMs: expect.any(Number),
      reason: 'The target answered 503.',
    });
    expect(await fixture.deadLetters.list({ keyId: 'another' })).toEqual([]);
    expect(await fixture.deadLetters.resend(letter!.id, { keyId: 'another' })).toBe(false);
    expect(await fixture.deadLetters.resend('nothing')).toBe(false);
    receiver.answerWith(500, 204);
    expect(await fixture.deadLetters.resend(letter!.id)).toBe(true);
    expect(await fixture.deadLetters.resend(letter!.id)).toBe(false);
    expect(await fixture.waitForOutcomes(8)).toEqual({ failed: 5, dead: 2, delivered: 1 });
    expect(await fixture.deadLetters.resendAll()).toBe(1);
    expect(await fixture.waitForOutcomes(9)).toEqual({ failed: 5, dead: 2, delivered: 2 });
    expect(await fixture.deadLetters.list()).toEqual([]);
    expect(new Set(receiver.posts.map(({ body }) => body)).size).toBe(2);
  });

  it('stop for a target that answers 410', async () => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(500, 410);
    const { consumer } = fixture.startWebhooks();
    await consumer.take([fixture.event(keyId)], 'treasury');
    expect(await fixture.waitForOutcomes(2)).toEqual({ failed: 1, gone: 1 });
    expect(await fixture.targets.find(target)).toMatchObject({ disabled: 'gone' });
    await consumer.take([fixture.event(keyId)], 'treasury');
    expect(await fixture.queue.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  });

  const ENDS = ['removed', 'disabled', 'its key revoked', 'its key revoked and unreadable'];

  it.each(ENDS)('drop waiting events for a target that is %s', async (how) => {
    const { receiver, target } = await fixture.register(keyId);
    const { consumer } = fixture.startWebhooks({ isIdle: true });
    await consumer.take([fixture.event(keyId)], 'treasury');
    if (how === 'removed') await fixture.targets.remove(target);
    else if (how === 'disabled') await fixture.targets.disable(target, 'by_owner');
    else await new ApiKeyStore(fixture.redis).revoke(keyId);
    if (how === 'its key revoked and unreadable') await fixture.redis.hset('tollgate:{api-keys}', keyId, 'damaged');
    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(1)).toEqual({ dropped: 1 });
    expect(receiver.posts).toEqual([]);
    if (how.startsWith('its key revoked'))
      expect(await fixture.targets.find(target)).toMatchObject({ disabled: 'key_revoked' });
  });

  it('let a target that never answers delay only its own events', async () => {
    const { receiver: hanging } = await fixture.register(keyId);
    const { receiver: well } = await fixture.register(keyId);
    hanging.answerWith(never);
    const settings = { webhookConcurrency: 4, webhookConcurrencyPerTarget: 2, webhookTimeoutMs: 60_000 };
    const { consumer } = fixture.startWebhooks({ settings });
    const events = Array.from({ length: 50 }, () => fixture.event(keyId));
    await consumer.take(events, 'treasury');
    expect(await fixture.waitForOutcomes(50)).toEqual({ delivered: 50 });
    expect(well.posts).toHaveLength(50);
    expect(hanging.posts).toHaveLength(2);
  });

  it('are aborted when the worker stops, and posted by the next worker, without counting an attempt', async () => {
    const { receiver } = await fixture.register(keyId);
    receiver.answerWith(never, 204);
    const webhooks = fixture.startWebhooks({ settings: { webhookTimeoutMs: 60_000, webhookAttempts: 1 } });
    await webhooks.consumer.take([fixture.event(keyId)], 'treasury');
    await waitFor('it is being posted', () => receiver.posts.length === 1);
    await webhooks.close(1_000);
    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(1)).toEqual({ delivered: 1 });
    expect(receiver.posts).toHaveLength(2);
  });

  it('leave no secret in Redis, and neither address nor answer of a target in the queue', async () => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(500);
    const { consumer } = fixture.startWebhooks({ settings: { webhookAttempts: 1 } });
    await consumer.take([fixture.event(keyId)], 'treasury');
    await fixture.waitForOutcomes(1);
    await waitFor('it is listed', async () => (await fixture.deadLetters.count()) === 1);
    const all = await fixture.dump();
    expect(all).toContain('The target answered 500.');
    expect(all).not.toContain(AGENT_SECRET);
    expect(all).not.toContain(deriveWebhookSecret(AGENT_SECRET, target.id));
    expect(all).not.toContain('a body that is never read');
    await fixture.targets.remove(target);
    expect(await fixture.dump()).not.toContain('canary-in-url');
  });
});
