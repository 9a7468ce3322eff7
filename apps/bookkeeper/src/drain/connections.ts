import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { REDIS_LOGGER } from '@tollgate/common';
import { connectRedis, type RedisClient } from '@tollgate/redis';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';

/** The connections of this process to Redis. In Redis it writes nothing but its position in the outbox. */
@Injectable()
export class BookkeeperConnections implements OnApplicationShutdown {
  /** For API keys and health; fails commands while Redis is down. */
  readonly commands: RedisClient;
  /** For the outbox, because it blocks. */
  readonly outbox: RedisClient;

  constructor(@Inject(BookkeeperEnvironment) { redis: { redisUrl: url } }: BookkeeperEnvironment) {
    this.commands = connectRedis({ url, role: 'bookkeeper', logger: REDIS_LOGGER });
    this.outbox = connectRedis({ url, role: 'bookkeeper-outbox', logger: REDIS_LOGGER });
  }

  onApplicationShutdown(): void {
    for (const redis of [this.outbox, this.commands]) redis.disconnect();
  }
}
