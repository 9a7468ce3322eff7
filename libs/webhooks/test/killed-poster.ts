import { Redis } from 'ioredis';
import { Registry } from 'prom-client';

import type { Announced } from '../src/webhook-targets.js';
import { WebhookEnvironment } from '../src/webhook.environment.js';
import { Webhooks } from '../src/webhooks.js';

/** A process that a spec kills while it posts. */
const { redisUrl, events } = JSON.parse(process.env['TASK'] ?? '') as { redisUrl: string; events: Announced[] };
const webhooks = new Webhooks({
  redis: new Redis(redisUrl),
  subject: 'jobs',
  registry: new Registry(),
  metrics: { outcomes: 'a', durations: 'b', waiting: 'c', dead: 'd' },
  secretOf: (targetId) => targetId,
  rules: { allowPrivateTargets: true },
  settings: { ...new WebhookEnvironment(), webhookTimeoutMs: 100 },
});
void webhooks.take(events).then(() => webhooks.run(new AbortController().signal));
