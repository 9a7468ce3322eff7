import { PaymentError } from '@tollgate/protocol';
import type { Cluster, Redis } from 'ioredis';

import type { PaymentStore, StoredValue } from './stores/payment-store.js';

export interface RedisStoreOptions {
  /** Prefix of every key; default `tollgate:middleware:`. */
  prefix?: string;
  /** Timeout of one Redis command in milliseconds; default 3,000. */
  timeoutMs?: number;
}

/** KEYS: the entry. Returns its value and the time of Redis, which all processes use as clock. */
const READ = `
local time = redis.call('TIME')
return {redis.call('GET', KEYS[1]), time[1] * 1000 + math.floor(time[2] / 1000)}
`;

/**
 * KEYS: the entry. ARGV: 1 and the expected value, or 0 and ''; 1 and the new value, or 0 and ''; ttl in ms. Returns 1
 * if the new value is stored.
 *
 * Comparing and replacing are atomic: if another write came between, two requests could sell for one payment.
 */
const REPLACE = `
local expected = ARGV[1] == '1' and ARGV[2]
local value = ARGV[3] == '1' and ARGV[4]
local current = redis.call('GET', KEYS[1])
if current ~= expected then return current == value and 1 or 0 end
if value then redis.call('SET', KEYS[1], value, 'PX', ARGV[5]) else redis.call('DEL', KEYS[1]) end
return 1
`;

/**
 * A store for servers with several processes; it survives their restarts. This Redis must not evict: set
 * `maxmemory-policy noeviction`.
 */
export class RedisStore implements PaymentStore {
  readonly #prefix: string;
  readonly #timeoutMs: number;

  /** @throws PaymentError `invalid_options` */
  constructor(
    private readonly redis: Redis | Cluster,
    { prefix = 'tollgate:middleware:', timeoutMs = 3000 }: RedisStoreOptions = {},
  ) {
    if (typeof (redis as Partial<Redis> | undefined)?.eval !== 'function') {
      throw new PaymentError('invalid_options', 'RedisStore needs an ioredis client as its first argument.');
    }
    this.#prefix = prefix;
    this.#timeoutMs = timeoutMs;
  }

  async read(name: string): Promise<StoredValue> {
    const [value, nowMs] = (await this.#run(READ, name)) as [string | null, number];
    return { value, nowMs };
  }

  async replace(name: string, expected: string | null, value: string | null, ttlMs: number): Promise<boolean> {
    const optional = (text: string | null): string[] => (text === null ? ['0', ''] : ['1', text]);
    const reply = await this.#run(REPLACE, name, ...optional(expected), ...optional(value), String(ttlMs));
    return reply === 1;
  }

  /** Fails after the timeout, since ioredis would otherwise wait as long as Redis is unavailable. */
  async #run(script: string, name: string, ...args: readonly string[]): Promise<unknown> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const error = new Error(`Redis did not respond within ${this.#timeoutMs} ms.`);
      timer = setTimeout(() => reject(error), this.#timeoutMs);
    });
    try {
      return await Promise.race([this.redis.eval(script, 1, `${this.#prefix}${name}`, ...args), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
