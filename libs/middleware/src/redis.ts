import { PaymentError } from '@tollgate/protocol';
import type { Cluster, Redis } from 'ioredis';

import type { PaymentStore, StoredValue } from './payment-store.js';

export interface RedisStoreOptions {
  /** Before every name; `tollgate:middleware:`. */
  prefix?: string;
  /** Milliseconds that Redis may take; 3,000. */
  timeoutMs?: number;
}

/** KEYS entry. Redis's clock is that of all processes. */
const READ = `
local time = redis.call('TIME')
return {redis.call('GET', KEYS[1]), time[1] * 1000 + math.floor(time[2] / 1000)}
`;

/**
 * KEYS entry; ARGV 1 and what is expected, or 0 and ''; 1 and a value, or 0 and ''; ttl ms. Answers 1 where the value stands there.
 *
 * Atomic: seeing what stands there and replacing it. If another came between, two requests would sell for one payment.
 */
const REPLACE = `
local expected = ARGV[1] == '1' and ARGV[2]
local value = ARGV[3] == '1' and ARGV[4]
local current = redis.call('GET', KEYS[1])
if current ~= expected then return current == value and 1 or 0 end
if value then redis.call('SET', KEYS[1], value, 'PX', ARGV[5]) else redis.call('DEL', KEYS[1]) end
return 1
`;

/** For servers of several processes, and over their restarts. Never evict from this Redis: `maxmemory-policy noeviction`. */
export class RedisStore implements PaymentStore {
  readonly #prefix: string;
  readonly #timeoutMs: number;

  /** @throws PaymentError `invalid_options` */
  constructor(
    private readonly redis: Redis | Cluster,
    { prefix = 'tollgate:middleware:', timeoutMs = 3000 }: RedisStoreOptions = {},
  ) {
    if (typeof (redis as Partial<Redis> | undefined)?.eval !== 'function') {
      throw new PaymentError('invalid_options', 'RedisStore is given no client of ioredis.');
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

  /** Not for as long as Redis is away: the client would wait that long. */
  async #run(script: string, name: string, ...args: readonly string[]): Promise<unknown> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const error = new Error(`Redis gave no answer within ${this.#timeoutMs} ms.`);
      timer = setTimeout(() => reject(error), this.#timeoutMs);
    });
    try {
      return await Promise.race([this.redis.eval(script, 1, `${this.#prefix}${name}`, ...args), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
