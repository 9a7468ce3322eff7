import { bundleProgram } from '../../../test/harness/stack/bundle-program.js';
import { startChild } from '../../../tools/devnet/processes/child-process.js';
import { startDnsServer } from '../../http/test/dns-server.js';
import { useWebhooks } from '../test/webhook-fixture.js';
import { WebhookTargets } from './webhook-targets.js';

const KEYS = 'tollgate:{api-keys}';

describe('webhooks, during failures,', () => {
  const fixture = useWebhooks();
  let keyId: string;

  beforeEach(async () => {
    keyId = await fixture.createKey();
  });

  it('are posted again by another process when theirs is killed during a post', async () => {
    const { receiver, target } = await fixture.register(keyId);
    const announced = fixture.event(keyId);
    const task = { redisUrl: fixture.server.url, events: [announced] };
    const child = await startChild({
      name: 'poster',
      command: process.execPath,
      args: [await bundleProgram('libs/webhooks/test/killed-poster.ts')],
      env: { ...process.env, TASK: JSON.stringify(task) },
    });
    receiver.answerWith(() => void child.end('SIGKILL'), 204);
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(1)).toEqual({ delivered: 1 });
    const [first, second] = receiver.posts.map(({ body }) => body);
    expect([first, JSON.parse(second!)]).toEqual([second, announced.event]);
    expect(await fixture.webhooks.deliveries.count(target)).toMatchObject({ waiting: 0 });
  });

  it.each(['target', 'API key'])('wait while the %s cannot be read, and reach the others', async (which) => {
    const { receiver, target } = await fixture.register(keyId);
    const { receiver: other } = await fixture.register(await fixture.createKey(), { hearsAll: true });
    await fixture.startWebhooks({ isIdle: true }).take(fixture.event(keyId));
    const [key, field] = which === 'target' ? [`tollgate:{webhooks}:jobs:of:${keyId}`, target.id] : [KEYS, keyId];
    const stored = await fixture.redis.hget(key, field);
    await fixture.redis.hset(key, field, 'damaged');
    const { take } = fixture.startWebhooks({ settings: { webhookAttempts: 1 } });
    await take(fixture.event(keyId));
    expect(await fixture.waitForOutcomes(2)).toEqual({ delivered: 2 });
    expect([receiver.posts.length, other.posts.length]).toEqual([0, 2]);
    await fixture.redis.hset(key, field, stored!);
    // Of a target that was unreadable when an event came, that event is not posted.
    const waited = which === 'target' ? 1 : 2;
    expect(await fixture.waitForOutcomes(2 + waited)).toEqual({ delivered: 2 + waited });
    expect(receiver.posts).toHaveLength(waited);
    expect(await fixture.webhooks.targets.find(target)).toMatchObject({ disabled: null });
  });

  it('post nothing to a name that resolves to a private address by the time of the delivery', async () => {
    const { receiver } = await fixture.register(await fixture.createKey());
    let address = '8.8.8.8';
    const dns = await startDnsServer((_, type) => (type === 'A' ? [address] : []));
    const rules = { allowPrivateTargets: false, nameServers: [dns.address] };
    const targets = new WebhookTargets(fixture.redis, 'jobs', { rules });
    const wanted = { keyId, url: `https://rebinding.example:${receiver.port}/`, hearsAll: false };
    const registered = await targets.register(wanted);
    if (registered.outcome !== 'registered') throw new Error(JSON.stringify(registered));
    address = '127.0.0.1';
    expect(await targets.register(wanted)).toMatchObject({ outcome: 'refused' });
    const { take } = fixture.startWebhooks({ ...rules, settings: { webhookAttempts: 2 } });
    await take(fixture.event(keyId));
    expect(await fixture.waitForOutcomes(2)).toEqual({ failed: 1, dead: 1 });
    expect(await fixture.webhooks.deliveries.listDead([registered.target], 9)).toMatchObject([
      { reason: 'The target address is not allowed: rebinding.example is not on the public internet.' },
    ]);
    await dns.close();
  });

  // Prevents: what waits fills Redis, and cannot leave it because Redis is full.
  it('are posted while Redis is full', async () => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(500, 204);
    await fixture.startWebhooks({ isIdle: true }).take(fixture.event(keyId));
    await fixture.redis.config('SET', 'maxmemory', '1');
    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(2)).toEqual({ failed: 1, delivered: 1 });
    await fixture.redis.config('SET', 'maxmemory', '0');
    expect(await fixture.webhooks.deliveries.count(target)).toMatchObject({ waiting: 0 });
  });

  it('continue after Redis was killed', async () => {
    const { receiver } = await fixture.register(keyId);
    receiver.answerWith(500, 204);
    const retry = { webhookFirstRetryMs: 1_000, webhookLongestRetryMs: 1_000 };
    const { take } = fixture.startWebhooks({ settings: retry });
    const announced = fixture.event(keyId);
    await take(announced);
    await fixture.waitForOutcomes(1);
    await fixture.server.kill();
    await fixture.server.start();
    await fixture.redis.ping();
    expect(await fixture.waitForOutcomes(2)).toMatchObject({ delivered: 1 });
    expect(receiver.posts.at(-1)!.headers['tollgate-event-id']).toBe(announced.event.id);
  });
});
