import { IsOptional, Matches } from 'class-validator';

import { Setting } from './setting.js';

const REDIS_URL = /^rediss?:\/\/\S+$/;
const message =
  '$property must be the redis:// or rediss:// URL of one server; Redis Cluster and Sentinel are not supported';

export class RedisEnvironment {
  @Setting({
    // A URL may carry a password.
    secret: true,
    help: 'Redis of the payments ledger, one server: append-only file with appendfsync always, maxmemory-policy noeviction.',
  })
  @Matches(REDIS_URL, { message })
  readonly redisUrl: string = 'redis://127.0.0.1:6379';

  @Setting({
    name: 'QUEUE_REDIS_URL',
    secret: true,
    help: 'Redis of the queues, if it is another server than REDIS_URL.',
    example: 'redis://127.0.0.1:6380',
  })
  @IsOptional()
  @Matches(REDIS_URL, { message })
  private readonly ownQueueRedisUrl?: string;

  get queueRedisUrl(): string {
    return this.ownQueueRedisUrl ?? this.redisUrl;
  }
}
