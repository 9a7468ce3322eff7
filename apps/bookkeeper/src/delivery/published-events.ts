import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { readEventPosition, storeEventPosition, type BookWriter } from '@tollgate/book';
import { NestPublisher } from '@tollgate/transport';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookChanges } from '../drain/book-changes.js';
import { followBook } from './follow-book.js';

const CONSUMER = 'nest-events';

/** Publishes the events of payments to Nest services, in order. */
@Injectable()
export class PublishedEvents implements OnApplicationShutdown {
  readonly #publisher: NestPublisher;

  constructor(
    @Inject(BookkeeperEnvironment) { redis }: BookkeeperEnvironment,
    @Inject(BookChanges) private readonly changes: BookChanges,
  ) {
    this.#publisher = new NestPublisher(redis.queueRedisUrl);
  }

  /** Until the signal is aborted. @throws DeposedError */
  run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    let position: number | null = null;
    return followBook(
      'PublishedEvents',
      { writer, changes: this.changes, signal },
      {
        readPosition: async () => (position ??= await readEventPosition(writer, CONSUMER)),
        take: async (events) => {
          await this.#publisher.publish(events.map(({ event }) => event));
          const last = events.at(-1)?.number ?? 0;
          await storeEventPosition(writer, CONSUMER, last);
          position = last;
        },
      },
    );
  }

  onApplicationShutdown(): Promise<void> {
    return this.#publisher.close();
  }
}
