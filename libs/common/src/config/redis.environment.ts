import { IsOptional } from 'class-validator';

import { IsRedisUrl } from './is-redis-url.js';
import { Setting } from './setting.js';

export class RedisEnvironment {
  @Setting({
    // A URL may carry a password.
    secret: true,
    help:
      'Redis of the payments ledger: append-only file with appendfsync always, maxmemory-policy noeviction. One server, ' +
      'or redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/name.',
  })
  @IsRedisUrl()
  readonly redisUrl: string = 'redis://127.0.0.1:6379';

  @Setting({
    name: 'QUEUE_REDIS_URL',
    secret: true,
    help: 'Redis of the queues, if it is another server than REDIS_URL.',
    example: 'redis://127.0.0.1:6380',
  })
  @IsOptional()
  @IsRedisUrl()
  private readonly ownQueueRedisUrl?: string;

  get queueRedisUrl(): string {
    return this.ownQueueRedisUrl ?? this.redisUrl;
  }
}
