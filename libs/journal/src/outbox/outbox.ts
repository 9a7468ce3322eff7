import { setTimeout as sleep } from 'node:timers/promises';

import { EVENT_TYPES, isHash } from '@tollgate/protocol';
import type { RedisClient } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import type { JobEvent, LaneId } from '../jobs/job.js';
import { consumersKey, eventsKey, laneKey } from '../jobs/keys.js';
import { parseFailure, parseState } from '../jobs/parse-job.js';
import type { TransitionRunner } from '../transitions/transition-runner.js';

export interface EventPage {
  readonly events: JobEvent[];
  /** The sequence of the last entry that was looked at. */
  readonly upTo: number;
  /** How many entries cannot be read. */
  readonly unread: number;
}

export interface ConsumerPlace {
  /** The sequence up to which the consumer has everything. */
  readonly position: number;
  /** Identifies the run of the server. */
  readonly run: string;
}

/**
 * The events of all lanes. A consumer reads from its position, processes the events, and then moves its position, so it
 * receives each event at least once, under the same id. Events that a known consumer has not passed are never trimmed.
 */
export class Outbox {
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly runner: TransitionRunner,
  ) {}

  /** Registers a consumer at the oldest stored event; returns its position if it was already registered. */
  async addConsumer(lane: LaneId, consumer: string): Promise<ConsumerPlace> {
    const [, position, run = ''] = await this.#move(lane, consumer, ['', '']);
    return { position: Number(position), run };
  }

  /**
   * Records that the consumer has everything up to this sequence. The position never moves back.
   * @param run that of its place before it read them
   * @returns false if Redis restarted since, and other events may have these sequences: read them again
   */
  async acknowledge(lane: LaneId, consumer: string, sequence: number, run: string): Promise<boolean> {
    const [outcome] = await this.#move(lane, consumer, [sequence, run]);
    return outcome === 'done';
  }

  /** The position of each consumer of a lane. */
  async readPositions(lane: LaneId): Promise<Record<string, number>> {
    const positions = await this.runner.within(this.redis.hgetall(consumersKey(lane)));
    return Object.fromEntries(Object.entries(positions).map(([name, position]) => [name, Number(position)]));
  }

  /** The events of `readPage`. */
  async read(lane: LaneId, place: { after: number; count?: number }): Promise<JobEvent[]> {
    return (await this.readPage(lane, place)).events;
  }

  /**
   * Up to `count` events after a sequence, in order. Trimmed events are left out, and those that cannot be read, as of a
   * later release: one of them must not hold back the others.
   */
  async readPage(lane: LaneId, { after, count = 100 }: { after: number; count?: number }): Promise<EventPage> {
    const page = { events: [] as JobEvent[], upTo: after, unread: 0 };
    while (page.events.length < count) {
      const wanted = count - page.events.length;
      const range = this.redis.xrange(eventsKey(lane), `${page.upTo + 1}-0`, '+', 'COUNT', wanted);
      const entries = await this.runner.within(range);
      for (const [id, fields] of entries) {
        page.upTo = Number.parseInt(id, 10);
        const event = parseEvent(lane, id, fields);
        if (event === null) page.unread += 1;
        else page.events.push(event);
      }
      if (entries.length < wanted) break;
    }
    return page;
  }

  #move(lane: LaneId, consumer: string, place: [sequence: number | '', run: string]): Promise<string[]> {
    if (!/^[\w.:-]{1,128}$/.test(consumer)) throw new TypeError('a consumer name is 1 to 128 letters, digits or .:_-');
    return this.runner.run('moveConsumer', laneKey(lane), null, [consumer, ...place]);
  }
}

/**
 * The sequence in an event's id, from which its lane's later events can be read; null when the text is not an event id.
 */
export function readEventId(id: string): { jobId: string; sequence: number } | null {
  const [, jobId, sequence] = /^(j[0-9a-f]{8}-[0-9a-f]{24}):[A-Z_]+:(\d{1,15})$/.exec(id) ?? [];
  return jobId === undefined || sequence === undefined ? null : { jobId, sequence: Number(sequence) };
}

/** Null when the entry is damaged, or of a later release. */
function parseEvent(lane: LaneId, id: string, fields: readonly string[]): JobEvent | null {
  try {
    return readEvent(lane, id, fields);
  } catch {
    return null;
  }
}

function readEvent(lane: LaneId, id: string, flat: readonly string[]): JobEvent {
  // `event`, its words, and where something failed, `error` and the failure.
  const [, line = '', , error] = flat;
  const [name, jobId = '', stateName, operation = '', keyId = '', at = '', txHash] = line.split(' ');
  const type = EVENT_TYPES.find((one) => one === name);
  if (!type) throw new TypeError('unknown type');
  if (!/^\d{1,15}$/.test(at)) throw new TypeError('no time');
  const [state, sequence] = [parseState(stateName), Number.parseInt(id, 10)];
  return {
    id: `${jobId}:${state}:${sequence}`,
    sequence,
    type,
    jobId,
    state,
    operation,
    lane,
    keyId,
    atMs: Number(at),
    ...(isHash(txHash) && { txHash }),
    ...(error !== undefined && { error: parseFailure(error) }),
  };
}

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
    // Only a cluster emits this: a primary was lost, and the one that replaces it may have older data.
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
