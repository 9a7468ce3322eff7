import type { DeliveredEvent, StreamPosition } from '@tollgate/book';
import {
  BOOK_GROUP,
  bucketEventsKey,
  isLaneName,
  laneBookKey,
  parseBookEvent,
  REFUSED_EVENTS,
} from '@tollgate/book-events';
import { Wakeable } from '@tollgate/journal';
import { BUCKETS } from '@tollgate/ledger';
import type { RedisClient } from '@tollgate/redis';

/** One consumer in each group: only the active bookkeeper reads, and its successor goes on where it ended. */
const CONSUMER = 'bookkeeper';
/** A stream that is added while the others are waited for is read after this time at the latest. */
const BLOCK_MS = 500;
/** The position of a group that has read nothing. */
const NO_ENTRY = '0-0';
/** The names of all lanes: wallets and relayers. */
const LANE_SETS = ['tollgate:{lanes}:lanes', 'tollgate:{relayers}:lanes'];

type Reply = [stream: string, entries: [id: string, fields: string[] | null][]][];
/** Characters of a read after which fewer entries are asked for. */
const LARGE = 8_000_000;

/** The wallets and relayers of all chains, each `<chainId>:<address>`. */
export async function listLanes(redis: RedisClient): Promise<string[]> {
  const lanes = await Promise.all(LANE_SETS.map((key) => redis.smembers(key).catch(emptyOfOtherType)));
  return lanes.flat().filter(isLaneName);
}

/** The streams of the outbox, as a consumer group sees them. */
export class OutboxStreams {
  /** Their names stay known, so that what waits in them is counted while nothing can be read. */
  readonly #known = new Set<string>();
  readonly #withGroup = new Set<string>();
  /** Between two reads of a cluster. */
  readonly #pause = new Wakeable();
  /** The connection's number in Redis while a read waits there. */
  #blockedAs: number | null = null;
  /** Entries that are asked for of each stream: few at first, so that no size of entries ends each start anew. */
  #count = 1;
  #hasMore = false;

  /**
   * @param commands ends the wait of the other connection
   * @param most entries of one stream, and about as many of all, in one read
   */
  constructor(
    private readonly redis: RedisClient,
    private readonly commands: RedisClient,
    private readonly most: number,
  ) {
    // The next connection has another number, and this one may become another client's.
    redis.on('close', () => (this.#blockedAs = null));
  }

  /**
   * Finds the streams, and creates the group in those that are new. From the first entry on, or none would be missed.
   * Returns whether there are new ones.
   */
  async find(): Promise<boolean> {
    const lanes = await listLanes(this.redis);
    const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucketEventsKey(bucket));
    const added = [...buckets, REFUSED_EVENTS, ...lanes.map(laneBookKey)].filter((key) => !this.#withGroup.has(key));
    for (const key of added) this.#known.add(key);
    const isStream = await Promise.all(added.map((key) => this.#createGroup(key)));
    const found = added.filter((_, index) => isStream[index]);
    for (const key of found) this.#withGroup.add(key);
    return found.length > 0;
  }

  /** Whether a stream may have had more than the last read took of it. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Keys of streams that are something else: no process can report there. */
  get otherKeys(): string[] {
    return [...this.#known].filter((key) => !this.#withGroup.has(key));
  }

  /** Makes `find` create the groups again, after Redis has lost them. */
  forget(): void {
    this.#withGroup.clear();
  }

  /** Entries that were delivered to a bookkeeper and not acknowledged: it died, or its database was away. */
  readUnacknowledged(): Promise<DeliveredEvent[]> {
    return this.#read('0', null);
  }

  /** Entries that no bookkeeper has read; with none, it waits half a second, unless a refund waits for the end. */
  async readNew(isAwaited: () => boolean): Promise<DeliveredEvent[]> {
    if (isAwaited()) return this.#read('>', null);
    if (this.redis.isCluster) {
      const read = await this.#read('>', null);
      if (read.length === 0) await this.#pause.sleep(BLOCK_MS);
      return read;
    }
    const noteBlocked = (id: number): void => {
      this.#blockedAs = id;
      if (isAwaited()) this.wake();
    };
    // Its answer comes before the read waits.
    this.redis.client('ID').then(noteBlocked, () => undefined);
    try {
      return await this.#read('>', BLOCK_MS);
    } finally {
      this.#blockedAs = null;
    }
  }

  /** Ends the wait of `readNew`. A hint: where it is lost, that ends by itself. */
  wake(): void {
    this.#pause.wake();
    if (this.#blockedAs !== null) this.commands.client('UNBLOCK', this.#blockedAs).catch(() => undefined);
  }

  async acknowledge(delivered: readonly DeliveredEvent[]): Promise<void> {
    const byStream = new Map<string, string[]>();
    for (const { stream, id } of delivered) byStream.set(stream, [...(byStream.get(stream) ?? []), id]);
    await Promise.all([...byStream].map(([stream, ids]) => this.redis.xack(stream, BOOK_GROUP, ...ids)));
  }

  /** The newest entry of each stream that was acknowledged, as far as Redis still shows it. */
  async readAcknowledged(): Promise<StreamPosition[]> {
    const newest = await Promise.all(
      [...this.#withGroup].map(async (stream) => ({ stream, id: await this.#readAcknowledgedOf(stream) })),
    );
    return newest.flatMap(({ stream, id }) => (id === null ? [] : [{ stream, id }]));
  }

  async #readAcknowledgedOf(key: string): Promise<string | null> {
    const group = await this.#readGroup(key);
    const newest = group?.['last-delivered-id'];
    if (typeof newest !== 'string' || newest === NO_ENTRY) return null;
    if (group?.['pending'] === 0) return newest;
    const [pendingFrom] = (await this.redis.xpending(key, BOOK_GROUP)).slice(1);
    if (typeof pendingFrom !== 'string') return newest;
    const [before] = await this.redis.xrevrange(key, `(${pendingFrom}`, '-', 'COUNT', 1);
    return before?.[0] ?? null;
  }

  /** Events that are not in the book, and the milliseconds since the oldest of them was written. */
  async readLag(): Promise<{ events: number; ageMs: number }> {
    const lags = await Promise.all([...this.#known].map((key) => this.#readLagOf(key)));
    return {
      events: lags.reduce((sum, { events }) => sum + events, 0),
      ageMs: Math.max(0, ...lags.map(({ oldestAtMs }) => (oldestAtMs === null ? 0 : Date.now() - oldestAtMs))),
    };
  }

  async #readLagOf(key: string): Promise<{ events: number; oldestAtMs: number | null }> {
    const group = await this.#readGroup(key);
    const events = Number(group?.['lag'] ?? 0) + Number(group?.['pending'] ?? 0);
    if (events === 0) return { events, oldestAtMs: null };
    const [pendingFrom] = (await this.redis.xpending(key, BOOK_GROUP)).slice(1);
    const after = typeof pendingFrom === 'string' ? pendingFrom : `(${String(group?.['last-delivered-id'])}`;
    const [oldest] = await this.redis.xrange(key, after, '+', 'COUNT', 1);
    return { events, oldestAtMs: oldest ? Number.parseInt(oldest[0], 10) : null };
  }

  async #readGroup(key: string): Promise<Record<string, unknown> | undefined> {
    const groups = await this.redis
      .xinfo('GROUPS', key)
      .catch((error: unknown) => (String(error).includes('no such key') ? [] : emptyOfOtherType(error)));
    return (groups as unknown[][]).map(toRecord).find(({ name }) => name === BOOK_GROUP);
  }

  /** False for a key that is no stream: nothing can be reported there, and it holds up no other. */
  async #createGroup(key: string): Promise<boolean> {
    try {
      await this.redis.xgroup('CREATE', key, BOOK_GROUP, '0', 'MKSTREAM');
    } catch (error) {
      if (String(error).includes('WRONGTYPE')) return false;
      if (!String(error).includes('BUSYGROUP')) throw error;
    }
    return true;
  }

  async #read(from: '0' | '>', blockMs: number | null): Promise<DeliveredEvent[]> {
    const keys = [...this.#withGroup];
    // The streams of a cluster are in different slots, for which no one command can ask, or wait.
    const reply = this.redis.isCluster
      ? (await Promise.all(keys.map((key) => this.#readOf([key], from, null)))).flat()
      : await this.#readOf(keys, from, blockMs);
    this.#hasMore = reply.some(([, entries]) => entries.length === this.#count);
    const isLarge = sizeOf(reply) > LARGE || reply.reduce((sum, [, entries]) => sum + entries.length, 0) > this.most;
    this.#count = isLarge ? Math.ceil(this.#count / 2) : Math.min(2 * this.#count, this.most);
    return reply.flatMap(([stream, entries]) =>
      entries.map(([id, fields]): DeliveredEvent => ({
        stream,
        id,
        fields: fields ?? [],
        event: parseBookEvent(fields ?? []),
      })),
    );
  }

  async #readOf(keys: readonly string[], from: '0' | '>', blockMs: number | null): Promise<Reply> {
    const [group, ids] = [['GROUP', BOOK_GROUP, CONSUMER] as const, keys.map(() => from)];
    const limit = ['COUNT', this.#count] as const;
    const reply = await (blockMs === null
      ? this.redis.xreadgroup(...group, ...limit, 'STREAMS', ...keys, ...ids)
      : this.redis.xreadgroup(...group, ...limit, 'BLOCK', blockMs, 'STREAMS', ...keys, ...ids));
    return reply ?? [];
  }
}

function sizeOf(reply: Reply): number {
  const fields = reply.flatMap(([, entries]) => entries.flatMap(([, entry]) => entry ?? []));
  return fields.reduce((sum, { length }) => sum + length, 0);
}

function emptyOfOtherType(error: unknown): [] {
  if (String(error).includes('WRONGTYPE')) return [];
  throw error;
}

function toRecord(flat: unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) record[String(flat[index])] = flat[index + 1];
  return record;
}
