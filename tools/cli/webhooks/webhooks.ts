import { nameLetter, parseLetterName } from '@tollgate/agent-jobs';
import {
  WebhookDeliveries,
  WebhookTargets,
  type FailedDelivery,
  type FoundTargets,
  type TargetName,
  type WebhookTarget,
} from '@tollgate/webhooks';
import { InvalidArgumentError } from 'commander';

import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findRedisPlace } from '../shared/find-place.js';
import { formatTable, formatTime } from '../shared/format-table.js';
import { withRedis } from '../shared/with-redis.js';

export interface WebhookOptions {
  redis?: string;
  /** Only what belongs to this API key. */
  key?: string;
}

type CountedTarget = WebhookTarget & { counts: Awaited<ReturnType<WebhookDeliveries['count']>> };

export async function listTargets(options: WebhookOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { found, unreadable } = await withWebhooks(options, env, async ({ targets, deliveries }) => {
    const listed = await targets.list(options.key);
    const counted = listed.targets.map(async (target) => ({ ...target, counts: await deliveries.count(target) }));
    return { found: await Promise.all(counted), unreadable: listed.unreadable };
  });
  const table = formatTable(
    ['TARGET', 'KEY', 'HEARS OF', 'EVENTS', 'OPERATIONS', 'CREATED', 'WAITING', 'CROWDED OUT', 'STATE', 'ADDRESS'],
    found.map(({ id, keyId: owner, hearsAll, events, operations, createdAtMs, disabled, url, counts }) => [
      ...[id, owner, hearsAll ? 'all jobs' : 'own jobs', events.join(',') || 'all', operations.join(',') || 'all'],
      ...[formatTime(createdAtMs), String(counts.waiting), String(counts.crowdedOut)],
      ...[disabled === null ? 'enabled' : `disabled: ${disabled}`, url],
    ]),
  );
  const damaged = unreadable.map(
    ({ id }) => `${JSON.stringify(id)} cannot be read: it receives no events. Remove it, and register it again.`,
  );
  return {
    json: [...unreadable.map((name) => ({ ...name, unreadable: true })), ...found.map(describeTarget)],
    text: [found.length === 0 ? 'There is no webhook target.' : table, ...damaged].join('\n'),
  };
}

export async function listDead(
  options: WebhookOptions & { limit: number },
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const found = await withWebhooks(options, env, async ({ targets, deliveries }) =>
    deliveries.listDead(namesOf(await targets.list(options.key)), options.limit),
  );
  const table = formatTable(
    ['DELIVERY', 'EVENT', 'ATTEMPTS', 'LAST', 'REASON'],
    found.map(({ target, event, attempts, failedAtMs, reason }) => [
      ...[nameLetter(event.id, target.id), event.type, String(attempts), formatTime(failedAtMs), reason],
    ]),
  );
  return { json: found.map(describeLetter), text: found.length === 0 ? 'No delivery was given up.' : table };
}

/** @throws InvalidArgumentError for neither or both of a delivery and `--all` */
export async function resend(
  delivery: string | undefined,
  options: WebhookOptions & { all?: true },
  env: NodeJS.ProcessEnv,
): Promise<string> {
  if ((delivery === undefined) !== (options.all ?? false)) {
    throw new InvalidArgumentError('resend needs a delivery, or --all');
  }
  return withWebhooks(options, env, async ({ targets, deliveries }) => {
    const found = await targets.list(options.key);
    if (delivery === undefined) {
      let resent = 0;
      // What is sent to a disabled target is dropped.
      for (const target of found.targets.filter(({ disabled }) => disabled === null)) {
        resent += await deliveries.resendAll(target);
      }
      return `${resent} deliveries are tried again.`;
    }
    const names = namesOf(found);
    const { eventId, targetId } = parseLetterName(delivery);
    const target = names.find(({ id }) => id === targetId);
    if (target && (await deliveries.resend(target, eventId))) return `${delivery} is tried again.`;
    throw new CommandError(`No delivery ${delivery} is among those given up. See tollgate webhooks dead.`);
  });
}

export async function enableTarget(id: string, options: WebhookOptions, env: NodeJS.ProcessEnv): Promise<string> {
  await change(id, options, env, (targets, target) => targets.enable(target));
  return `${id} receives events from now on.`;
}

export async function removeTarget(id: string, options: WebhookOptions, env: NodeJS.ProcessEnv): Promise<string> {
  await change(id, options, env, (targets, target) => targets.remove(target));
  return `${id} is removed.`;
}

async function change(
  id: string,
  options: WebhookOptions,
  env: NodeJS.ProcessEnv,
  apply: (targets: WebhookTargets, target: TargetName) => Promise<unknown>,
): Promise<void> {
  const isChanged = await withWebhooks(options, env, async ({ targets }) => {
    const target = namesOf(await targets.list()).find((one) => one.id === id);
    return target && (await apply(targets, target));
  });
  if (!isChanged) throw new CommandError(`There is no target ${id}. See tollgate webhooks list.`);
}

function withWebhooks<T>(
  { redis: url }: WebhookOptions,
  env: NodeJS.ProcessEnv,
  work: (webhooks: { targets: WebhookTargets; deliveries: WebhookDeliveries }) => Promise<T>,
): Promise<T> {
  return withRedis(findRedisPlace(url, env), (redis) =>
    work({ targets: new WebhookTargets(redis, 'jobs'), deliveries: new WebhookDeliveries(redis, 'jobs') }),
  );
}

function namesOf({ targets, unreadable }: FoundTargets): TargetName[] {
  return [...targets, ...unreadable].map(({ keyId, id }) => ({ keyId, id }));
}

function describeTarget({ counts: { waiting, crowdedOut }, createdAtMs, from: _, ...target }: CountedTarget) {
  return { ...target, waiting, crowdedOut, createdAt: new Date(createdAtMs).toISOString() };
}

function describeLetter({ target, failedAtMs, ...letter }: FailedDelivery) {
  const id = nameLetter(letter.event.id, target.id);
  return { id, keyId: target.keyId, targetId: target.id, ...letter, failedAt: new Date(failedAtMs).toISOString() };
}
