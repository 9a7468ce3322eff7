import { Inject, Injectable, Logger } from '@nestjs/common';
import { BookUnavailableError, closeBook, type BookWriter, type SignedClosing } from '@tollgate/book';
import { pause } from '@tollgate/journal';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';

const LOOK_EVERY_MS = 60_000;

/** Closes each day that has ended, and signs what it says. */
@Injectable()
export class DailyClosings {
  readonly #logger = new Logger('Closings');

  constructor(@Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment) {}

  /** The address whose signature closings have, in lower case. */
  get signer(): string {
    return this.environment.book.signer.address;
  }

  /** Until the signal is aborted. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for (const { content, hash } of await closeBook(writer, this.environment.book.signer, { signal })) {
          this.#logger.log({ msg: 'a day is closed', day: content.day, root: content.root, hash });
        }
      } catch (error) {
        if (signal.aborted) return;
        // The drain reports a database that is away.
        if (!(error instanceof BookUnavailableError)) throw error;
      }
      await pause(LOOK_EVERY_MS, signal);
    }
  }

  /** Closes what has been booked so far, of the current day too. */
  closeNow(writer: BookWriter): Promise<SignedClosing[]> {
    return closeBook(writer, this.environment.book.signer, { untilMs: Date.now() });
  }
}
