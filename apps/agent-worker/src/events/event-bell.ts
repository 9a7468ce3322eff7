import { REDIS_LOGGER } from '@tollgate/common';
import { OutboxFollower } from '@tollgate/journal';
import { connectRedis } from '@tollgate/redis';

/** Wakes the event pumps of this process. */
export class EventBell extends OutboxFollower {
  constructor(redisUrl: string, onTrouble: (error: unknown) => void) {
    super(connectRedis({ url: redisUrl, role: 'event-bell', use: 'blocking', logger: REDIS_LOGGER }), onTrouble);
  }
}
