import {
  DeadLetters,
  openWebhooksQueue,
  WaitingDeliveries,
  WebhookTargets,
  type FailedDelivery,
  type TargetName,
  type WebhookTarget,
} from '@tollgate/agent-jobs';
import type { WebhookDelivery } from '@tollgate/common';
import type { RedisClient } from '@tollgate/redis';
import type { Queue } from 'bullmq';
import { InvalidArgumentError } from 'commander';

import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findQueueRedisPlace, findRedisPlace } from '../shared/find-place.js';
import { formatTable, formatTime } from '../shared/format-table.js';
import { withRedis } from '../shared/with-redis.js';

export interface WebhookOptions {
  redis?: string;
  queueRedis?: string;
  /** Only what belongs to this API key. */
  key?: string;
}

export async function listTargets(options: WebhookOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { targets, unreadable } = await withTargets(options, env, (known) => known.list(options.key));
  const found = await withQueue(options, env, (queue, redis) => {
    const waiting = new WaitingDeliveries(redis, queue);
    return Promise.all(targets.map(async (target) => ({ ...target, ...(await waiting.count(target.id)) })));
  });
  const table = formatTable(
    ['TARGET', 'KEY', 'HEARS OF', 'EVENTS', 'OPERATIONS', 'CREATED', 'WAITING', 'CROWDED OUT', 'STATE', 'ADDRESS'],
    found.map(({ id, keyId: owner, hearsAll, events, operations, createdAtMs, disabled, url, ...counts }) => [
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
  const { key: keyId, limit } = options;
  const found = await withLetters(options, env, (letters) => letters.list({ keyId, limit }));
  const table = formatTable(
    ['DELIVERY', 'EVENT', 'ATTEMPTS', 'LAST', 'REASON'],
    found.map(({ id, event, attempts, failedAtMs, reason }) => [
      ...[id, event.type, String(attempts), formatTime(failedAtMs), reason],
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
  const { key: keyId, all = false } = options;
  if ((delivery === undefined) !== all) throw new InvalidArgumentError('resend needs a delivery, or --all');
  return withLetters(options, env, async (letters) => {
    if (delivery === undefined) return `${await letters.resendAll({ keyId })} deliveries are tried again.`;
    if (await letters.resend(delivery, { keyId })) return `${delivery} is tried again.`;
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
  const isChanged = await withTargets(options, env, async (targets) => {
    const known = await targets.list();
    const target = [...known.targets, ...known.unreadable].find((one) => one.id === id);
    return target && (await apply(targets, target));
  });
  if (!isChanged) throw new CommandError(`There is no target ${id}. See tollgate webhooks list.`);
}

function withTargets<T>(
  { redis: url }: WebhookOptions,
  env: NodeJS.ProcessEnv,
  work: (targets: WebhookTargets) => Promise<T>,
): Promise<T> {
  return withRedis(findRedisPlace(url, env), (redis) => work(new WebhookTargets(redis)));
}

function withQueue<T>(
  options: WebhookOptions,
  env: NodeJS.ProcessEnv,
  work: (queue: Queue<WebhookDelivery>, redis: RedisClient) => Promise<T>,
): Promise<T> {
  return withRedis(findQueueRedisPlace(options, env), async (redis) => {
    const queue = openWebhooksQueue(redis);
    try {
      return await work(queue, redis);
    } finally {
      await queue.close();
    }
  });
}

function withLetters<T>(
  options: WebhookOptions,
  env: NodeJS.ProcessEnv,
  work: (letters: DeadLetters) => Promise<T>,
): Promise<T> {
  return withQueue(options, env, (queue) => work(new DeadLetters(queue)));
}

function describeTarget({ createdAtMs, ...target }: WebhookTarget) {
  return { ...target, createdAt: new Date(createdAtMs).toISOString() };
}

function describeLetter({ failedAtMs, ...letter }: FailedDelivery) {
  return { ...letter, failedAt: new Date(failedAtMs).toISOString() };
}
