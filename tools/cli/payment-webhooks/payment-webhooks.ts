import type { OutgoingEventType } from '@tollgate/book';

import { OperatorApi, type OperatorPlace } from '../book/operator-api.js';
import type { CommandResult } from '../shared/cli-command.js';
import { formatTable, formatTime } from '../shared/format-table.js';

export interface NewTargetOptions extends OperatorPlace {
  /** As they were typed: the bookkeeper refuses words that are none. */
  events?: OutgoingEventType[];
}

export async function showTargets(place: OperatorPlace, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { webhooks } = await new OperatorApi(place, env).ask('GET /operator/webhooks', {});
  const table = formatTable(
    ['TARGET', 'EVENTS', 'CREATED', 'WAITING', 'CROWDED OUT', 'STATE', 'ADDRESS'],
    webhooks.map(({ id, events, createdAt, waiting, crowdedOut, disabled, url }) => [
      ...[id, events.join(',') || 'all', formatTime(Date.parse(createdAt)), String(waiting), String(crowdedOut)],
      ...[disabled === null ? 'enabled' : `disabled: ${disabled}`, url],
    ]),
  );
  return { json: webhooks, text: webhooks.length === 0 ? 'This API key has no webhook target.' : table };
}

export async function addTarget(
  url: string,
  { events, ...place }: NewTargetOptions,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const made = await new OperatorApi(place, env).ask('POST /operator/webhooks', { body: { url, events } });
  const text = `${made.id} receives ${made.events.join(', ') || 'all events'} from now on.\nIts secret, which is shown only this once: ${made.secret}`;
  return { json: made, text };
}

export async function showDead(
  { limit, ...place }: OperatorPlace & { limit: number },
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const { deadLetters } = await new OperatorApi(place, env).ask('GET /operator/webhooks/dead-letters', {
    query: { limit },
  });
  const table = formatTable(
    ['TARGET', 'EVENT', 'ATTEMPTS', 'LAST', 'REASON'],
    deadLetters.map(({ webhookId, event, attempts, failedAt, reason }) => [
      ...[webhookId, event.id, String(attempts), formatTime(Date.parse(failedAt)), reason],
    ]),
  );
  return { json: deadLetters, text: deadLetters.length === 0 ? 'No delivery was given up.' : table };
}

export async function changeTarget(
  name: 'resend' | 'enable' | 'remove',
  id: string,
  place: OperatorPlace,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const operator = new OperatorApi(place, env);
  switch (name) {
    case 'resend': {
      const { resent } = await operator.ask('POST /operator/webhooks/:id/resend', { id });
      return resent === 1 ? '1 delivery is tried again.' : `${resent} deliveries are tried again.`;
    }
    case 'enable':
      await operator.ask('POST /operator/webhooks/:id/enable', { id });
      return `${id} receives events from now on.`;
    case 'remove':
      await operator.ask('DELETE /operator/webhooks/:id', { id });
      return `${id} is removed.`;
  }
}
