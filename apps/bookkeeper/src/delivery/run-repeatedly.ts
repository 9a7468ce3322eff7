import { Logger } from '@nestjs/common';
import { BookUnavailableError, DeposedError } from '@tollgate/book';
import { Wakeable } from '@tollgate/journal';

import type { BookChanges } from '../drain/book-changes.js';

/** A change may be missed. */
const LOOK_EVERY_MS = 1_000;

/**
 * Runs a pass over new events at the start, at each change and every second, until the signal is aborted. A pass that
 * fails is repeated. @throws DeposedError
 */
export async function runRepeatedly(
  name: string,
  changes: BookChanges,
  signal: AbortSignal,
  pass: () => Promise<void>,
): Promise<void> {
  const logger = new Logger(name);
  const wakeable = new Wakeable();
  const listening = changes.stream.subscribe(() => wakeable.wake());
  let reported = '';
  try {
    while (!signal.aborted) {
      try {
        await pass();
        reported = '';
      } catch (error) {
        if (error instanceof DeposedError) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        // The drain reports a database that is away.
        if (!(error instanceof BookUnavailableError) && reason !== reported) logger.warn(`events wait: ${reason}`);
        reported = reason;
      }
      await wakeable.sleep(LOOK_EVERY_MS, signal);
    }
  } finally {
    listening.unsubscribe();
  }
}
