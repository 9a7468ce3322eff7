import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import { Injectable, Logger } from '@nestjs/common';
import { InTurn } from '@tollgate/book';
import { ProblemError } from '@tollgate/http';

/** Of one that has its turn; the others wait for it. */
const STALLED_MS = 30_000;
const MOST_WAITING = 8;

/** Takes a part of a text, and resolves when it wants more. */
export type Write = (text: string) => Promise<void>;

/** Readings of the whole book, one at a time, since each keeps the database busy: exports, backups and verification. */
@Injectable()
export class LongReadings {
  readonly #logger = new Logger('Readings');
  readonly #turns = new InTurn();
  #asked = 0;

  /** @throws ProblemError 429 while too many wait */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#asked > MOST_WAITING) {
      const detail = `${MOST_WAITING} exports, backups and verifications wait already; they run one at a time.`;
      throw new ProblemError({ status: 429, code: 'too_many_requests', detail, retryAfterMs: STALLED_MS });
    }
    this.#asked += 1;
    return this.#turns.run(work).finally(() => (this.#asked -= 1));
  }

  /**
   * What a reading writes, as fast as it is read. A reader that takes nothing for `stalledMs` gets no more, and the stream
   * is destroyed: other readings wait until this one has ended.
   * @returns when it has begun to write, or has ended
   * @throws ProblemError 429 while too many wait; what the work throws before it writes
   */
  async stream(work: (write: Write) => Promise<unknown>, stalledMs = STALLED_MS): Promise<PassThrough> {
    const stream = new PassThrough();
    const gone = new AbortController();
    stream.once('close', () => gone.abort());
    const write = async (text: string): Promise<void> => {
      if (stream.destroyed) throw new Error('the reader is gone');
      if (stream.write(text)) return;
      const stalled = AbortSignal.timeout(stalledMs);
      await once(stream, 'drain', { signal: AbortSignal.any([stalled, gone.signal]) }).catch(() => {
        if (stalled.aborted) throw new Error('the reader takes nothing');
      });
    };
    const ended = this.run(() => work(write));
    ended.then(
      () => stream.end(),
      // The reader notices that the end is missing.
      (error: unknown) => {
        this.#logger.warn(`A reading of the book was broken off: ${(error as Error).message}`);
        stream.destroy(error as Error);
      },
    );
    await Promise.race([ended, once(stream, 'readable')]);
    return stream;
  }
}
