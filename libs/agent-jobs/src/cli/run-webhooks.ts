import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import { DeadLetters, type DeadLetter } from '../dead-letters.js';
import { WaitingDeliveries } from '../waiting-deliveries.js';
import { openWebhooksQueue, type WebhookDelivery } from '../webhook-delivery.js';
import type { WebhookTarget } from '../webhook-target.js';
import { WebhookTargets } from '../webhook-targets.js';
import { formatTable, formatTime } from './format-table.js';
import {
  CommandError,
  FLAG,
  HELP_FLAG,
  readArguments,
  refuseMoreThan,
  TEXT,
  UsageError,
  withRedis,
} from './run-command.js';

export const WEBHOOKS_HELP = `Looks after the targets that events of agent jobs are posted to, and what did not reach them.

  npm run webhooks -- list    [--key <id>] [--json]                 all targets, oldest first, with
                                                                    what waits and what was dropped for it
  npm run webhooks -- dead    [--key <id>] [--limit <n>] [--json]   deliveries that were given up, newest first
  npm run webhooks -- resend  <delivery>                            tries one of them again, from the beginning
  npm run webhooks -- resend  --all [--key <id>]                    tries all of them again
  npm run webhooks -- enable  <target>                              posts to a disabled target again
  npm run webhooks -- remove  <target>                              for good; what waits for it is dropped

  --key          only what belongs to this API key
  --limit        how many to print; default 50
  --redis        the journal's Redis; default REDIS_URL, else that of a running npm run dev, else redis://127.0.0.1:6379
  --queue-redis  the queues' Redis; default QUEUE_REDIS_URL, else the journal's
`;

const OPTIONS = {
  ...{ key: TEXT, limit: TEXT, redis: TEXT, 'queue-redis': TEXT },
  ...{ all: FLAG, json: FLAG, help: HELP_FLAG },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

interface Options {
  keyId: string | undefined;
  limit: number;
  isJson: boolean;
}

/**
 * Carries out what was typed; answers what is printed.
 * @throws UsageError, CommandError
 */
export async function runWebhooks(args: string[], env: Environment): Promise<string> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [command, subject] = positionals;
  if (values.help || command === undefined) return WEBHOOKS_HELP;
  refuseMoreThan(['list', 'dead'].includes(command) ? 1 : 2, positionals);
  const options: Options = { keyId: values.key, limit: parseLimit(values.limit), isJson: values.json ?? false };
  const withTargets = (work: (targets: WebhookTargets) => Promise<string>): Promise<string> =>
    withRedis(values.redis, (redis) => work(new WebhookTargets(redis)));
  const withQueue = (work: (queue: Queue<WebhookDelivery>, redis: Redis) => Promise<string>): Promise<string> =>
    withRedis(values['queue-redis'] ?? (env['QUEUE_REDIS_URL'] || values.redis), async (redis) => {
      const queue = openWebhooksQueue(redis);
      return work(queue, redis).finally(() => queue.close());
    });
  const withLetters = (work: (letters: DeadLetters) => Promise<string>): Promise<string> =>
    withQueue((queue) => work(new DeadLetters(queue)));
  switch (command) {
    case 'list':
      return withTargets((targets) =>
        withQueue((queue, redis) => list(targets, new WaitingDeliveries(redis, queue), options)),
      );
    case 'dead':
      return withLetters((letters) => listDead(letters, options));
    case 'resend':
      if ((subject === undefined) === !values.all) throw new UsageError('resend needs a delivery, or --all');
      return withLetters((letters) => resend(letters, subject, options));
    case 'enable':
    case 'remove':
      if (subject === undefined) throw new UsageError(`${command} needs a target`);
      return withTargets((targets) => change(targets, command, subject));
    default:
      throw new UsageError(`there is no command ${command}`);
  }
}

async function list(targets: WebhookTargets, waiting: WaitingDeliveries, { keyId, isJson }: Options): Promise<string> {
  const known = await targets.list(keyId);
  const found = await Promise.all(known.map(async (target) => ({ ...target, ...(await waiting.count(target.id)) })));
  if (isJson) return JSON.stringify(found.map(describeTarget), null, 2);
  if (found.length === 0) return 'There is no webhook target.';
  return formatTable(
    ['TARGET', 'KEY', 'HEARS OF', 'EVENTS', 'OPERATIONS', 'CREATED', 'WAITING', 'CROWDED OUT', 'STATE', 'ADDRESS'],
    found.map(({ id, keyId: owner, hearsAll, events, operations, createdAtMs, disabled, url, ...counts }) => [
      ...[id, owner, hearsAll ? 'all jobs' : 'own jobs', events.join(',') || 'all', operations.join(',') || 'all'],
      ...[formatTime(createdAtMs), String(counts.waiting), String(counts.crowdedOut)],
      ...[disabled === null ? 'enabled' : `disabled: ${disabled}`, url],
    ]),
  );
}

async function listDead(letters: DeadLetters, { keyId, limit, isJson }: Options): Promise<string> {
  const found = await letters.list({ keyId, limit });
  if (isJson) return JSON.stringify(found.map(describeLetter), null, 2);
  if (found.length === 0) return 'No delivery was given up.';
  return formatTable(
    ['DELIVERY', 'EVENT', 'ATTEMPTS', 'LAST', 'REASON'],
    found.map(({ id, event, attempts, failedAtMs, reason }) => [
      ...[id, event.type, String(attempts), formatTime(failedAtMs), reason],
    ]),
  );
}

async function resend(letters: DeadLetters, id: string | undefined, { keyId }: Options): Promise<string> {
  if (id === undefined) return `${await letters.resendAll({ keyId })} deliveries are tried again.`;
  if (await letters.resend(id, { keyId })) return `${id} is tried again.`;
  throw new CommandError(`No delivery ${id} was given up. See npm run webhooks -- dead.`);
}

async function change(targets: WebhookTargets, command: 'enable' | 'remove', id: string): Promise<string> {
  const target = (await targets.list()).find((one) => one.id === id);
  const isChanged = target && (await (command === 'enable' ? targets.enable(target) : targets.remove(target)));
  if (!isChanged) throw new CommandError(`There is no target ${id}. See npm run webhooks -- list.`);
  return command === 'enable' ? `${id} gets what happens from now on.` : `${id} is removed.`;
}

function describeTarget({ createdAtMs, ...target }: WebhookTarget) {
  return { ...target, createdAt: new Date(createdAtMs).toISOString() };
}

function describeLetter({ failedAtMs, ...letter }: DeadLetter) {
  return { ...letter, failedAt: new Date(failedAtMs).toISOString() };
}

function parseLimit(text = '50'): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError('--limit must be a whole number above 0');
  return Number(text);
}
