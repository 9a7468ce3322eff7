import { setTimeout as sleep } from 'node:timers/promises';

import type { RedisClient } from '@tollgate/redis';

import type { LaneId } from '../jobs/job.js';
import { eventsKey } from '../jobs/keys.js';

/** A lane that is added while the others wait is included after this time at the latest. */
const BLOCK_MS = 500;
const READ_COUNT = 200;
/** How often a cluster is asked for the events of each lane. */
const POLL_MS = 100;
const PAUSE_MS = 1_000;

interface Listener {
  /** Rings for events after this sequence. */
  after: number;
  ring: () => void;
}

/**
 * Wakes listeners when a lane has a new event. One connection waits for all lanes of this process at once, with two
 * commands a second while nothing happens. Delivery is not guaranteed, so listeners also poll from time to time.
 */
export class OutboxFollower {
  readonly #listeners = new Map<string, Listener>();
  #running: Promise<void> | null = null;
  #closing = false;
  #connections = 0;

  /** @param redis a connection of its own, because it blocks; closed by `close` */
  constructor(
    private readonly redis: RedisClient,
    private readonly onTrouble: (error: unknown) => void,
  ) {
    redis.on('ready', () => this.#connections++);
    // Of a cluster: a primary was lost, and the one that replaces it may have older data.
    redis.on('-node', () => this.#connections++);
  }

  /** How often it has connected: after another connection, Redis may have older data. */
  get connections(): number {
    return this.#connections;
  }

  /** Returns a function that removes the listener. `after`: the last sequence for which it is not woken. */
  join(lane: LaneId, after: number, ring: () => void): () => void {
    const [key, listener] = [eventsKey(lane), { after, ring }];
    this.#listeners.set(key, listener);
    this.#running ??= this.#run().finally(() => (this.#running = null));
    return () => {
      if (this.#listeners.get(key) === listener) this.#listeners.delete(key);
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.redis.disconnect();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failing = false;
    while (!this.#closing && this.#listeners.size > 0) {
      try {
        await this.#wait();
        failing = false;
      } catch (error) {
        if (this.#closing) return;
        if (!failing) this.onTrouble(error);
        failing = true;
        await sleep(PAUSE_MS);
      }
    }
  }

  async #wait(): Promise<void> {
    if (this.redis.isCluster) return this.#poll();
    const listeners = new Map(this.#listeners);
    const positions = [...listeners.values()].map(({ after }) => `${after}-0`);
    const streams = await this.redis.xread(
      'COUNT',
      READ_COUNT,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...listeners.keys(),
      ...positions,
    );
    for (const [key, entries] of streams ?? []) this.#ring(listeners.get(key), entries);
  }

  /** The lanes of a cluster are in different slots, for which no one command can wait. */
  async #poll(): Promise<void> {
    const polled = [...this.#listeners].map(async ([key, listener]) => {
      const streams = await this.redis.xread('COUNT', READ_COUNT, 'STREAMS', key, `${listener.after}-0`);
      for (const [, entries] of streams ?? []) this.#ring(listener, entries);
    });
    await Promise.all(polled);
    await sleep(POLL_MS);
  }

  #ring(listener: Listener | undefined, entries: readonly [id: string, fields: string[]][]): void {
    if (!listener) return;
    listener.after = Number.parseInt(entries.at(-1)?.[0] ?? `${listener.after}`, 10);
    listener.ring();
  }
}
