import { Matches } from 'class-validator';

import { Setting } from './setting.js';

const REDIS_URL = /^rediss?:\/\/\S+$/;
const message = '$property must be a redis:// or rediss:// URL';

export class RedisEnvironment {
  @Setting({
    // A URL may carry a password.
    secret: true,
    help: 'Redis of the payments ledger: append-only file with appendfsync always, maxmemory-policy noeviction.',
  })
  @Matches(REDIS_URL, { message })
  readonly redisUrl: string = 'redis://127.0.0.1:6379';

  @Setting({ secret: true, help: 'Redis of the queues; may be the same server as REDIS_URL.' })
  @Matches(REDIS_URL, { message })
  readonly queueRedisUrl: string = 'redis://127.0.0.1:6379';
}
