import { setTimeout as sleep } from 'node:timers/promises';

import type { Cluster } from 'ioredis';

import { duplicateRedis, type RedisClient } from './connect-redis.js';

/** What must have a write on disk, besides the primary, before anything that rests on it leaves. */
export interface Durability {
  /** Every replica that may be promoted. */
  replicas: number;
  /** How long they may take; then nothing leaves. */
  timeoutMs: number;
}

/** Which values may be set, and which holds without a setting. */
export const DURABILITY_BOUNDS = {
  replicas: { from: 1, to: 16, usually: 1 },
  timeoutMs: { from: 10, to: 2_500, usually: 1_000 },
} as const;

export type RedisCommand = [name: string, ...args: (string | number | Buffer)[]];

interface Waiting {
  key: string;
  command: RedisCommand;
  redirections: number;
  resolve: (reply: unknown) => void;
  reject: (error: unknown) => void;
}

interface Line {
  waiting: Waiting[];
  isBusy: boolean;
}

const SLOTS = 16_384;
const MOST_REDIRECTIONS = 3;
const FENCE_MS = 60_000;
/** As long as the driver waits for a slot on its way to another server. */
const MOVING_SLOT_MS = 100;

/**
 * Runs commands whose replies are held back until the replicas have what they rest on. Commands that wait together share
 * one WAITAOF. It blocks its connection, so this one is used for nothing else, and ends with the connection given.
 */
export class AcknowledgedCommands {
  readonly #redis: RedisClient;
  readonly #lines = new Map<string, Line>();

  constructor(
    redis: RedisClient,
    private readonly durability: Durability,
  ) {
    this.#redis = duplicateRedis(redis, {});
    // The connection given reports the same trouble.
    this.#redis.on('error', () => undefined);
    redis.once('end', () => this.#redis.disconnect());
  }

  /** `key`: one of the command's keys, which decides the server. Rejects a reply that is not acknowledged in time. */
  run(key: string, command: RedisCommand): Promise<unknown> {
    return new Promise((resolve, reject) => this.#add({ key, command, redirections: 0, resolve, reject }));
  }

  #add(waiting: Waiting): void {
    const server = this.#serverOf(waiting.key);
    let line = this.#lines.get(server);
    if (!line) this.#lines.set(server, (line = { waiting: [], isBusy: false }));
    line.waiting.push(waiting);
    if (line.isBusy) return;
    line.isBusy = true;
    const started = line;
    setImmediate(() => void this.#flush(server, started));
  }

  /** One batch at a time: whatever arrives meanwhile shares the next WAITAOF. */
  async #flush(server: string, line: Line): Promise<void> {
    while (line.waiting.length > 0) {
      const batch = line.waiting.splice(0);
      await this.#send(batch).catch((error: unknown) => batch.forEach(({ reject }) => reject(error)));
    }
    this.#lines.delete(server);
  }

  /**
   * WAITAOF covers only what its own connection wrote. The fence is written last, so that it also covers writes of other
   * connections that the batch has read. A replica asked at once answers for its last fsync, and by itself only once a
   * second; the WAIT before has it asked again after this one. A pipeline cut off half-way continues on no other server.
   */
  async #send(batch: readonly Waiting[]): Promise<void> {
    const { replicas, timeoutMs } = this.durability;
    const halfMs = Math.ceil(timeoutMs / 2);
    const pipeline = this.#redis.pipeline([
      ...batch.map(({ command }) => command),
      ['set', fenceBeside(batch[0]?.key ?? ''), '', 'PX', FENCE_MS],
      ['wait', replicas, halfMs],
      ['call', 'WAITAOF', 1, replicas, halfMs],
    ]);
    const replies = (await pipeline.exec()) ?? [];
    const [fenceError] = replies[batch.length] ?? [new Error('Redis left out an answer')];
    const [waitError, counts] = replies[batch.length + 2] ?? [new Error('Redis left out an answer'), null];
    const trouble = fenceError ?? waitError ?? this.#findMissing(counts);
    for (const [index, waiting] of batch.entries()) {
      const [ownError, reply] = replies[index] ?? [new Error('Redis left out an answer'), null];
      const error = ownError ?? trouble;
      if (error === null) waiting.resolve(reply);
      else if (isRedirection(error) && waiting.redirections < MOST_REDIRECTIONS) void this.#redirect(waiting, error);
      else waiting.reject(error);
    }
  }

  #findMissing(counts: unknown): Error | null {
    const [onDisk, onReplicas] = Array.isArray(counts) ? counts.map(Number) : [];
    const { replicas, timeoutMs } = this.durability;
    if ((onDisk ?? 0) >= 1 && (onReplicas ?? 0) >= replicas) return null;
    return new Error(`${onReplicas ?? 0} of ${replicas} replicas have written it to disk within ${timeoutMs} ms`);
  }

  /**
   * A command outside a pipeline follows the redirection, and the client learns the slot's new server. While a slot is on
   * its way there is none yet: some of its keys are here and some there.
   */
  async #redirect(waiting: Waiting, { message }: Error): Promise<void> {
    try {
      if (!message.startsWith('MOVED ')) await sleep(MOVING_SLOT_MS);
      await this.#redis.exists(waiting.key);
      this.#add({ ...waiting, redirections: waiting.redirections + 1 });
    } catch (error) {
      waiting.reject(error);
    }
  }

  #serverOf(key: string): string {
    if (!this.#redis.isCluster) return '';
    return (this.#redis as Cluster).slots[slotOf(key)]?.join() ?? '';
  }
}

const tagOf = (key: string): string => /\{([^}]+)\}/.exec(key)?.[1] ?? key;

/** In the key's slot, and gone after a minute, because idempotency keys have a slot each. */
const fenceBeside = (key: string): string => `tollgate:{${tagOf(key)}}:fence`;

/** The command was not carried out: its slot is elsewhere, or on its way there. */
function isRedirection({ message }: Error): boolean {
  return /^(MOVED|ASK|TRYAGAIN) /.test(message);
}

/** A key's slot in a cluster: CRC16 (XMODEM) of its hash tag. */
function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tagOf(key))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021) & 0xffff;
  }
  return crc % SLOTS;
}
