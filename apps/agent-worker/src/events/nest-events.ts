import { toAgentJobEvent } from '@tollgate/agent-jobs';
import { NestPublisher } from '@tollgate/common';
import type { JobEvent } from '@tollgate/journal';

import type { EventConsumer } from './event-pumps.js';

/** Publishes the events of jobs to Nest services. */
export class NestEvents implements EventConsumer {
  readonly name = 'nest-events';
  readonly #publisher: NestPublisher;

  /** @param redisUrl the Redis of the queues */
  constructor(redisUrl: string) {
    this.#publisher = new NestPublisher(redisUrl);
  }

  /** Resolves when Redis has accepted all of them. */
  take(events: readonly JobEvent[], wallet: string): Promise<void> {
    return this.#publisher.publish(events.map((event) => toAgentJobEvent(event, wallet)));
  }

  close(): Promise<void> {
    return this.#publisher.close();
  }
}
