import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { REDIS_LOGGER } from '@tollgate/common';
import { connectRedis, type RedisClient } from '@tollgate/redis';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';

/**
 * The connections of this process to Redis. There it writes its position in the outbox, and what the scripts of the
 * ledger and the journal write for operators.
 */
@Injectable()
export class BookkeeperConnections implements OnApplicationShutdown {
  /** For API keys, health, the ledger and the journal; fails commands while Redis is down. */
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
