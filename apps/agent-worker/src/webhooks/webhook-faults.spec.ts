import { WebhookTargets } from '@tollgate/agent-jobs';
import { Journal } from '@tollgate/journal';

import { startDnsServer } from '../../../../libs/common/test/dns-server.js';
import { sampleLane, submitSample } from '../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { bundleProgram } from '../../../../test/harness/stack/bundle-program.js';
import { startChild } from '../../../../tools/devnet/processes/child-process.js';
import { WebhookFixture } from '../../test/webhook-fixture.js';
import { EventBell, EventPumps } from '../events/event-pumps.js';

const KEYS = 'tollgate:{api-keys}';

describe('webhooks, during failures,', () => {
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

  it('lose and duplicate nothing when a worker is killed before it acknowledges the events', async () => {
    const journal = new Journal({ redis: fixture.redis });
    await journal.open();
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 0 });
    const { receiver } = await fixture.register(keyId);
    for (let index = 0; index < 3; index++) {
      await journal.cancel((await submitSample(journal, lane, 1, { keyId })).jobId);
    }
    const child = await startChild({
      name: 'pump',
      command: process.execPath,
      args: [await bundleProgram('apps/agent-worker/test/crashing-pump.ts')],
      env: { ...process.env, TASK: JSON.stringify({ redisUrl: fixture.server.url, lane }) },
    });
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await journal.outbox.readPositions(lane)).toEqual({ webhooks: 0 });
    expect(await fixture.queue.getWaitingCount()).toBe(3);

    const { consumer } = fixture.startWebhooks();
    const bell = new EventBell(fixture.server.url, () => undefined);
    const over = new AbortController();
    const running = new EventPumps({ journal, bell, consumers: [consumer], onTrouble: () => undefined }).run(
      { lane, signal: over.signal },
      'treasury',
    );
    await waitFor(
      'they are added to the queue again',
      async () => (await journal.outbox.readPositions(lane))['webhooks'] === 3,
    );
    expect(await fixture.waitForOutcomes(3)).toEqual({ delivered: 3 });
    over.abort();
    await running;
    await bell.close();
    expect(await fixture.queue.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    const ids = (await journal.outbox.read(lane, { after: 0 })).map(({ id }) => id);
    expect(receiver.posts.map(({ headers }) => headers['tollgate-event-id']).sort()).toEqual(ids.sort());
  });

  it('reach the other targets where one cannot be read, whose deliveries are given up', async () => {
    const { receiver } = await fixture.register(keyId);
    const operator = await fixture.createKey('operator');
    const { target } = await fixture.register(operator);
    const { consumer } = fixture.startWebhooks({ isIdle: true });
    await consumer.take([fixture.event(keyId)], 'treasury');
    await fixture.redis.hset(`tollgate:{webhooks}:of:${operator}`, target.id, 'damaged');
    await consumer.take([fixture.event(keyId)], 'treasury');
    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(5)).toEqual({ delivered: 2, failed: 2, dead: 1 });
    expect(receiver.posts).toHaveLength(2);
    await waitFor('it is listed', async () => (await fixture.deadLetters.count()) === 1);
    expect(await fixture.deadLetters.list()).toMatchObject([
      { targetId: target.id, reason: expect.stringContaining('cannot be read') },
    ]);
  });

  it('are tried again while Redis lacks the API key of their target', async () => {
    const { receiver, target } = await fixture.register(keyId);
    const { consumer } = fixture.startWebhooks({ settings: { webhookAttempts: 1_000 } });
    const stored = await fixture.redis.hget(KEYS, keyId);
    await fixture.redis.hdel(KEYS, keyId);
    const event = fixture.event(keyId);
    await consumer.take([event], 'treasury');
    await fixture.waitForOutcomes(2);
    expect(receiver.posts).toEqual([]);
    await fixture.redis.hset(KEYS, keyId, stored!);
    await waitFor('it is posted', () => receiver.posts.length === 1);
    expect(receiver.posts[0]!.headers['tollgate-event-id']).toBe(event.id);
    expect(await fixture.targets.find(target)).toMatchObject({ disabled: null });
  });

  it('post nothing to a name that resolves to a private address by the time of the delivery', async () => {
    const { receiver } = await fixture.register(await fixture.createKey());
    let address = '8.8.8.8';
    const dns = await startDnsServer((_, type) => (type === 'A' ? [address] : []));
    const rules = { allowPrivateTargets: false, nameServers: [dns.address] };
    const url = `https://rebinding.example:${receiver.port}/`;
    const targets = new WebhookTargets(fixture.redis, { rules });
    expect(await targets.register({ keyId, url })).toMatchObject({ outcome: 'registered' });
    address = '127.0.0.1';
    expect(await targets.register({ keyId, url })).toMatchObject({ outcome: 'refused' });
    const { consumer } = fixture.startWebhooks({ ...rules, settings: { webhookAttempts: 2 } });
    await consumer.take([fixture.event(keyId)], 'treasury');
    expect(await fixture.waitForOutcomes(2)).toEqual({ failed: 1, dead: 1 });
    await waitFor('it is listed', async () => (await fixture.deadLetters.count()) === 1);
    expect(await fixture.deadLetters.list()).toMatchObject([
      { reason: 'The target address is not allowed: rebinding.example is not on the public internet.' },
    ]);
    await dns.close();
  });

  it('continue after Redis was killed', async () => {
    const { receiver } = await fixture.register(keyId);
    receiver.answerWith(500, 204);
    const { consumer } = fixture.startWebhooks({
      settings: { webhookFirstRetryMs: 1_000, webhookLongestRetryMs: 1_000 },
    });
    const event = fixture.event(keyId);
    await consumer.take([event], 'treasury');
    await fixture.waitForOutcomes(1);
    await fixture.server.kill();
    await fixture.server.start();
    await fixture.redis.ping();
    expect(await fixture.waitForOutcomes(2)).toMatchObject({ delivered: 1 });
    expect(receiver.posts.at(-1)!.headers['tollgate-event-id']).toBe(event.id);
  });
});
