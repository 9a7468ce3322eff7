import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';

import { Get, Inject, Req, StreamableFile } from '@nestjs/common';
import { copyBook, type ClaimedDatabase } from '@tollgate/book';
import type { FastifyRequest } from 'fastify';

import { BookHolder } from '../book/book-holder.js';
import { ForOperators, OperatorController } from './operator-controller.js';

const STALLED_MS = 30_000;

@OperatorController('backup')
export class BackupController {
  constructor(@Inject(BookHolder) private readonly book: BookHolder) {}

  /** It shows everything, so it is recorded as a write is. */
  @Get()
  @ForOperators('operator:approve', 'Everything in the book at one moment, as lines of JSON, for BOOK_RESTORE', 'copy')
  copy(@Req() { method }: FastifyRequest): StreamableFile {
    // Fastify reads a stream for a HEAD to its end, and throws it away.
    const stream = method === 'HEAD' ? Readable.from([]) : streamCopy(this.book.writer.database, STALLED_MS);
    return new StreamableFile(stream, { type: 'application/jsonl; charset=utf-8' });
  }
}

/**
 * The copy of the book, as fast as it is read. A reader that takes nothing for `stalledMs` gets no more, and the stream is
 * destroyed: bookings in a folder wait until the copy has ended.
 */
export function streamCopy(database: ClaimedDatabase, stalledMs: number): PassThrough {
  const stream = new PassThrough();
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  const write = async (text: string): Promise<void> => {
    if (stream.destroyed) throw new Error('the reader of the copy is gone');
    if (stream.write(text)) return;
    const stalled = AbortSignal.timeout(stalledMs);
    await once(stream, 'drain', { signal: AbortSignal.any([stalled, gone.signal]) }).catch(() => {
      if (stalled.aborted) throw new Error('the reader of the copy takes nothing');
    });
  };
  copyBook(database, write).then(
    () => stream.end(),
    // The reader notices that the end is missing.
    (error: unknown) => stream.destroy(error as Error),
  );
  return stream;
}
