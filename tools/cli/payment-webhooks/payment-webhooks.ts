import type { CountedTargetView, LetterView } from '@tollgate/webhooks';

import { OperatorApi, type OperatorPlace } from '../book/operator-api.js';
import type { CommandResult } from '../shared/cli-command.js';
import { formatTable, formatTime } from '../shared/format-table.js';

const PATH = '/operator/webhooks';

export async function showTargets(place: OperatorPlace, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { webhooks } = await new OperatorApi(place, env).read<{ webhooks: CountedTargetView[] }>(PATH);
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
  { events, ...place }: OperatorPlace & { events?: string[] },
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const body = { url, ...(events !== undefined && { events }) };
  const made = await new OperatorApi(place, env).read<CountedTargetView & { secret: string }>(PATH, 'POST', body);
  const text = `${made.id} receives ${made.events.join(', ') || 'all events'} from now on.\nIts secret, which is shown only this once: ${made.secret}`;
  return { json: made, text };
}

export async function showDead(
  { limit, ...place }: OperatorPlace & { limit: number },
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const path = `${PATH}/dead-letters?limit=${limit}`;
  const { deadLetters } = await new OperatorApi(place, env).read<{ deadLetters: LetterView[] }>(path);
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
  target: string,
  place: OperatorPlace,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const operator = new OperatorApi(place, env);
  const path = `${PATH}/${encodeURIComponent(target)}`;
  switch (name) {
    case 'resend': {
      const { resent } = await operator.read<{ resent: number }>(`${path}/resend`, 'POST');
      return resent === 1 ? '1 delivery is tried again.' : `${resent} deliveries are tried again.`;
    }
    case 'enable':
      await operator.read(`${path}/enable`, 'POST');
      return `${target} receives events from now on.`;
    case 'remove':
      await operator.remove(path);
      return `${target} is removed.`;
  }
}
