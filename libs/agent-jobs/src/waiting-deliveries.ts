import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

import { COUNT_DELIVERIES } from './waiting-deliveries.lua.js';
import type { WebhookDelivery } from './webhook-delivery.js';

/** A delivery by the name that it has in the queue. */
export interface NamedDelivery {
  id: string;
  data: WebhookDelivery;
}

const KEPT_SECONDS = 30 * 86_400;

/**
 * What waits for each webhook target, counted beside the queue, which knows of no targets. Whatever a crash leaves wrong in
 * it is a number that is a little off: it mends itself when a delivery is tried, or found to be done.
 */
export class WaitingDeliveries {
  /** @param redis of the queue */
  constructor(
    private readonly redis: Redis,
    private readonly queue: Queue<WebhookDelivery>,
  ) {}

  /**
   * Counts deliveries that were put into the queue just now, again or not, and takes out the oldest above the limit but for
   * what is being posted. Answers how many went.
   */
  async add(targetId: string, deliveries: readonly NamedDelivery[], most: number): Promise<number> {
    const entries = deliveries.flatMap(({ id, data }) => [timeOf(data), id]);
    const args = [most, this.queue.toKey(''), KEPT_SECONDS, ...entries];
    const ids = (await COUNT_DELIVERIES.run(this.redis, this.#waitingOf(targetId), args)) as string[];
    return ids.length === 0 ? 0 : this.#crowdOut(targetId, ids);
  }

  /** A delivery comes again. */
  async goOn({ id, data }: NamedDelivery): Promise<void> {
    await this.redis.zadd(this.#waitingOf(data.targetId), 'NX', timeOf(data), id);
  }

  /** A delivery waits no more, however it ended. */
  async end({ id, data }: NamedDelivery): Promise<void> {
    await this.redis.zrem(this.#waitingOf(data.targetId), id);
  }

  /** How many wait for a target, and how many had no room in the last weeks. */
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

  // An id in the queue has no colon: these are no jobs of its.
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
