import type { WebhookTarget } from '@tollgate/agent-jobs';
import type { JobEvent } from '@tollgate/journal';

import { waitFor } from '../../../../test/harness/retry.js';
import { WebhookFixture } from '../../test/webhook-fixture.js';

describe('the queue of a webhook target', () => {
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

  /** Consecutive events. */
  const events = (count: number, of = keyId): JobEvent[] =>
    Array.from({ length: count }, (_, index) => fixture.event(of, { atMs: Date.now() + 10_000 + index }));
  const idsOf = (list: readonly JobEvent[]) => list.map(({ id }) => id).sort();
  const readQueued = async (target: WebhookTarget): Promise<string[]> => {
    const jobs = await fixture.queue.getJobs(['waiting', 'delayed', 'active']);
    return jobs.flatMap(({ data }) => (data.targetId === target.id ? [data.event.id] : [])).sort();
  };
  const waitForCounts = (target: WebhookTarget, waiting: number) =>
    waitFor(`${waiting} wait`, async () => (await fixture.waiting.count(target.id)).waiting === waiting);

  // Prevents: a target that is down for long fills the queues' Redis, and so stops deliveries to all others.
  it('is bounded: the oldest event is dropped, and none of another target', async () => {
    const { receiver, target } = await fixture.register(keyId);
    const otherKey = await fixture.createKey();
    const { target: other } = await fixture.register(otherKey);
    const { consumer } = fixture.startWebhooks({ isIdle: true, settings: { webhookWaitingPerTarget: 3 } });
    const [own, others] = [events(7), events(3, otherKey)];
    await consumer.take([...own.slice(0, 2), ...others], 'treasury');
    await consumer.take(own.slice(2, 4), 'treasury');
    expect(await readQueued(target)).toEqual(idsOf(own.slice(1, 4)));
    await consumer.take(own.slice(4), 'treasury');
    expect(await readQueued(target)).toEqual(idsOf(own.slice(4)));
    expect(await readQueued(other)).toEqual(idsOf(others));
    expect(await fixture.waitForOutcomes(4)).toEqual({ crowded_out: 4 });
    expect(await fixture.waiting.count(target.id)).toEqual({ waiting: 3, crowdedOut: 4 });
    expect(await fixture.waiting.count(other.id)).toEqual({ waiting: 3, crowdedOut: 0 });

    fixture.startWebhooks();
    expect(await fixture.waitForOutcomes(6)).toEqual({ delivered: 6 });
    expect(receiver.posts.map(({ headers }) => headers['tollgate-event-id']).sort()).toEqual(idsOf(own.slice(4)));
    await waitForCounts(target, 0);
  });

  it('is bounded even when one batch alone is too large', async () => {
    const { target } = await fixture.register(keyId);
    const { consumer } = fixture.startWebhooks({ isIdle: true, settings: { webhookWaitingPerTarget: 2 } });
    const own = events(5);
    await consumer.take(own, 'treasury');
    expect(await readQueued(target)).toEqual(idsOf(own.slice(3)));
  });

  it('is bounded however many lanes add events at once', async () => {
    const { target } = await fixture.register(keyId);
    const settings = { webhookWaitingPerTarget: 5 };
    const consumers = [1, 2, 3].map(() => fixture.startWebhooks({ isIdle: true, settings }).consumer);
    const own = events(60);
    const batches = Array.from({ length: 12 }, (_, index) => own.slice(index * 5, index * 5 + 5));
    await Promise.all(batches.map((batch, index) => consumers[index % 3]!.take(batch, 'treasury')));
    expect(await readQueued(target)).toEqual(idsOf(own.slice(55)));
    expect(await fixture.waiting.count(target.id)).toEqual({ waiting: 5, crowdedOut: 55 });
  });

  it('counts deliveries that wait for a retry, but neither delivered nor failed ones', async () => {
    const { receiver, target } = await fixture.register(keyId);
    receiver.answerWith(500);
    const settings = { webhookFirstRetryMs: 600_000, webhookLongestRetryMs: 600_000 };
    const patient = fixture.startWebhooks({ settings });
    await patient.consumer.take(events(3), 'treasury');
    await fixture.waitForOutcomes(3);
    await waitFor('all are put off', async () => (await fixture.queue.getDelayedCount()) === 3);
    expect(await fixture.waiting.count(target.id)).toEqual({ waiting: 3, crowdedOut: 0 });
    await patient.close(2_000);

    const hasty = fixture.startWebhooks({ settings: { webhookAttempts: 1 } });
    receiver.answerWith(204, 500);
    await hasty.consumer.take(events(2), 'treasury');
    expect(await fixture.waitForOutcomes(2)).toEqual({ delivered: 1, dead: 1 });
    await waitForCounts(target, 3);
  });

  it('does not count a repeated event that was delivered meanwhile', async () => {
    const { target } = await fixture.register(keyId);
    const { consumer } = fixture.startWebhooks();
    const own = events(2);
    await consumer.take(own, 'treasury');
    expect(await fixture.waitForOutcomes(2)).toEqual({ delivered: 2 });
    await waitForCounts(target, 0);
    await consumer.take(own, 'treasury');
    expect(await fixture.waiting.count(target.id)).toEqual({ waiting: 0, crowdedOut: 0 });
  });

  it('does not drop an event that is being posted', async () => {
    const { receiver, target } = await fixture.register(keyId);
    let finish = (): void => undefined;
    receiver.answerWith((response) => (finish = () => response.writeHead(204).end()), 204);
    const settings = { webhookWaitingPerTarget: 1, webhookConcurrency: 1, webhookTimeoutMs: 60_000 };
    const { consumer } = fixture.startWebhooks({ settings });
    const [first, second] = events(2);
    await consumer.take([first!], 'treasury');
    await waitFor('it is being posted', () => receiver.posts.length === 1);
    await consumer.take([second!], 'treasury');
    finish();
    expect(await fixture.waitForOutcomes(2)).toEqual({ delivered: 2 });
    expect((await fixture.waiting.count(target.id)).crowdedOut).toBe(0);
  });
});
