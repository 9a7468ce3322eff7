import { Logger } from '@nestjs/common';
import {
  BookUnavailableError,
  DeposedError,
  readOutgoingEvents,
  type BookWriter,
  type NumberedEvent,
} from '@tollgate/book';
import { consumeOutbox, Wakeable } from '@tollgate/journal';

import type { BookChanges } from '../drain/book-changes.js';

/** One destination for the events of the book. */
export interface BookConsumer {
  /** The number of the last event that it has. */
  readPosition(): Promise<number>;
  /** Hands the next events on, and stores the position behind them. */
  take(events: readonly NumberedEvent[], from: number): Promise<void>;
}

const BATCH = 100;
/** A change may be missed. */
const LOOK_EVERY_MS = 1_000;

/** Hands the events of the book to a consumer, in order, until the signal is aborted. @throws DeposedError */
export async function followBook(
  name: string,
  { writer, changes, signal }: { writer: BookWriter; changes: BookChanges; signal: AbortSignal },
  consumer: BookConsumer,
): Promise<void> {
  const logger = new Logger(name);
  const wakeable = new Wakeable();
  const listening = changes.stream.subscribe(() => wakeable.wake());
  const pass = async (): Promise<boolean> => {
    const position = await consumer.readPosition();
    const events = await readOutgoingEvents(writer.database, position, BATCH);
    if (events.length > 0) await consumer.take(events, position);
    return events.length === BATCH;
  };
  const onTrouble = (error: Error): void => {
    if (error instanceof DeposedError) throw error;
    // The drain reports a database that is away.
    if (!(error instanceof BookUnavailableError)) logger.warn(`events wait: ${error.message}`);
  };
  try {
    await consumeOutbox({ pass, wakeable, lookEveryMs: LOOK_EVERY_MS, onTrouble, signal });
  } finally {
    listening.unsubscribe();
  }
}
