import { agentJobEvent, nameLetter } from '@tollgate/agent-jobs';
import { EVENT_TYPES, JOB_OPERATIONS } from '@tollgate/protocol';
import {
  describeLetter,
  describeTarget,
  letterView,
  targetView,
  type FailedDelivery,
  type WebhookTarget,
} from '@tollgate/webhooks';
import { z } from 'zod';

const webhookView = targetView.extend({
  // What a later release has stored is shown too.
  events: z.array(z.string().meta({ enum: [...EVENT_TYPES] })).describe('empty: all'),
  operations: z.array(z.string().meta({ enum: [...JOB_OPERATIONS] })).describe('empty: all'),
});

export const webhook = webhookView.meta({ id: 'Webhook' });
export const newWebhook = webhookView
  .extend({ secret: z.string().describe('signs the posted events; shown only here') })
  .meta({ id: 'NewWebhook' });
export const webhookList = z
  .object({
    webhooks: z.array(webhook),
    unreadable: z
      .array(z.string())
      .exactOptional()
      .describe('ids of targets whose entries cannot be read; absent when there are none'),
  })
  .meta({ id: 'WebhookList' });

const deadLetter = letterView
  .extend({ id: z.string(), keyId: z.string(), event: agentJobEvent })
  .meta({ id: 'DeadLetter' });
export const deadLetterList = z.object({ deadLetters: z.array(deadLetter) });

export function describe(target: WebhookTarget) {
  return { ...describeTarget(target), operations: target.operations };
}

export function describeDead(letter: FailedDelivery) {
  const { keyId, id } = letter.target;
  return { id: nameLetter(letter.event.id, id), keyId, ...describeLetter(letter) };
}
