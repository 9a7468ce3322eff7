import { WEBHOOKS_QUEUE, type WebhookDelivery } from '@tollgate/common';
import type { AgentJobEvent } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';
import type { Queue } from 'bullmq';

import { openQueue } from '../queues/queues.js';
import countDeliveries from './scripts/count-deliveries.lua';
import type { WebhookTarget } from './webhook-targets.js';

/** Always the same for the same event and target, so that adding it again has no effect. BullMQ allows no colon. */
export function nameDelivery(event: Pick<AgentJobEvent, 'id'>, target: Pick<WebhookTarget, 'id'>): string {
  return `${event.id.replaceAll(':', '.')}.${target.id}`;
}

/** Whether a delivery with this name goes to the target. */
export function isDeliveryTo(targetId: string, name: string): boolean {
  return name.endsWith(`.${targetId}`);
}

/** @param connection to the Redis of the queues, from `connectRedis`; it stays open when the queue is closed */
export function openWebhooksQueue(connection: RedisClient): Queue<WebhookDelivery> {
  return openQueue(WEBHOOKS_QUEUE, connection);
}

/** A delivery, identified by its id in the queue. */
export interface NamedDelivery {
  id: string;
  data: WebhookDelivery;
}

const COUNT_DELIVERIES = new LuaScript(countDeliveries);
const KEPT_SECONDS = 30 * 86_400;

/**
 * The deliveries that wait for each webhook target, counted outside the queue, which does not know targets. A crash can
 * only make a count slightly wrong; it is corrected when a delivery is tried or found to be finished.
 */
export class WaitingDeliveries {
  /** @param redis the Redis of the queue */
  constructor(
    private readonly redis: RedisClient,
    private readonly queue: Queue<WebhookDelivery>,
  ) {}

  /**
   * Counts deliveries that were just put into the queue, new or repeated, and drops the oldest above the limit, except
   * those being posted. Returns how many were dropped.
   */
  async add(targetId: string, deliveries: readonly NamedDelivery[], most: number): Promise<number> {
    const entries = deliveries.flatMap(({ id, data }) => [timeOf(data), id]);
    const args = [most, this.queue.toKey(''), KEPT_SECONDS, ...entries];
    const ids = (await COUNT_DELIVERIES.run(this.redis, this.#waitingOf(targetId), args)) as string[];
    return ids.length === 0 ? 0 : this.#crowdOut(targetId, ids);
  }

  /** A delivery will be retried. */
  async goOn({ id, data }: NamedDelivery): Promise<void> {
    await this.redis.zadd(this.#waitingOf(data.targetId), 'NX', timeOf(data), id);
  }

  /** A delivery no longer waits, whatever its outcome. */
  async end({ id, data }: NamedDelivery): Promise<void> {
    await this.redis.zrem(this.#waitingOf(data.targetId), id);
  }

  /** How many deliveries wait for a target, and how many were dropped in the last weeks. */
  async count(targetId: string): Promise<{ waiting: number; crowdedOut: number }> {
    const [waiting, crowdedOut] = await Promise.all([
      this.redis.zcard(this.#waitingOf(targetId)),
      this.redis.get(this.#crowdedOutOf(targetId)),
    ]);
    return { waiting, crowdedOut: Number(crowdedOut ?? 0) };
  }

  async #crowdOut(targetId: string, ids: readonly string[]): Promise<number> {
    const removed = await Promise.all(ids.map((id) => this.queue.remove(id)));
    const count = removed.filter((result) => result === 1).length;
    const key = this.#crowdedOutOf(targetId);
    if (count > 0) await this.redis.multi().incrby(key, count).expire(key, KEPT_SECONDS).exec();
    return count;
  }

  // Ids in the queue have no colon, so these keys are not jobs of the queue.
  #waitingOf(targetId: string): string {
    return this.queue.toKey(`waiting-for:${targetId}`);
  }

  #crowdedOutOf(targetId: string): string {
    return this.queue.toKey(`crowded-out:${targetId}`);
  }
}

function timeOf({ event }: WebhookDelivery): number {
  return Date.parse(event.at);
}
