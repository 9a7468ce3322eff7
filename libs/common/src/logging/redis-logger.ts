import { Logger } from '@nestjs/common';

/** Where the connections to Redis report that they are lost and restored. */
export const REDIS_LOGGER = new Logger('Redis');
