import { Get, Inject, StreamableFile } from '@nestjs/common';

import { BookHolder } from '../book/book-holder.js';
import { ForOperators, OperatorController } from './operator-controller.js';
import { streamCopy } from './stream-copy.js';

const STALLED_MS = 30_000;

@OperatorController('backup')
export class BackupController {
  constructor(@Inject(BookHolder) private readonly book: BookHolder) {}

  /** It shows everything, so it is recorded as a write is. */
  @Get()
  @ForOperators('operator:approve', 'Everything in the book at one moment, as lines of JSON, for BOOK_RESTORE', 'copy')
  copy(): StreamableFile {
    const stream = streamCopy(this.book.writer.database, STALLED_MS);
    return new StreamableFile(stream, { type: 'application/jsonl; charset=utf-8' });
  }
}
