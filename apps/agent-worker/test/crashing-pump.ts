import { openWebhooksQueue, WaitingDeliveries, WebhookTargets } from '@tollgate/agent-jobs';
import { Journal, type LaneId } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { EventBell, EventPumps, type EventConsumer } from '../src/events/event-pumps.js';
import { WebhookFanOut } from '../src/webhooks/webhook-fan-out.js';

/** A process that is killed after the events are in the webhook queue and before their delivery is acknowledged. */
const task = JSON.parse(process.env['TASK'] ?? '') as { redisUrl: string; lane: LaneId };
const redis = new Redis(task.redisUrl);
const queue = openWebhooksQueue(redis);
const fanOut = new WebhookFanOut({
  targets: new WebhookTargets(redis),
  queue,
  waiting: new WaitingDeliveries(redis, queue),
  settings: { webhookAttempts: 3, webhookWaitingPerTarget: 10 },
  onOutcome: () => undefined,
});
const crashing: EventConsumer = {
  name: fanOut.name,
  take: async (events, wallet) => {
    await fanOut.take(events, wallet);
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  },
};
const journal = new Journal({ redis });
const bell = new EventBell(task.redisUrl, console.error);
const pumps = new EventPumps({ journal, bell, consumers: [crashing], onTrouble: console.error });
void journal.open().then(() => pumps.run({ lane: task.lane, signal: new AbortController().signal }, 'treasury'));
