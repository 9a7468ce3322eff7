import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { readEventPosition, readOutgoingEvents, storeEventPosition, type BookWriter } from '@tollgate/book';
import { NestPublisher } from '@tollgate/common';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookChanges } from '../drain/book-changes.js';
import { runRepeatedly } from './run-repeatedly.js';

const CONSUMER = 'nest-events';
const BATCH = 500;

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
    return runRepeatedly('PublishedEvents', this.changes, signal, async () => {
      position ??= await readEventPosition(writer, CONSUMER);
      while (!signal.aborted) {
        const events = await readOutgoingEvents(writer.database, position, BATCH);
        const last = events.at(-1);
        if (last === undefined) return;
        await this.#publisher.publish(events.map(({ event }) => event));
        await storeEventPosition(writer, CONSUMER, last.number);
        position = last.number;
      }
    });
  }

  onApplicationShutdown(): Promise<void> {
    return this.#publisher.close();
  }
}
