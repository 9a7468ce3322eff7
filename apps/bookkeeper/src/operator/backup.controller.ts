import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import { Get, Inject, StreamableFile } from '@nestjs/common';
import { copyBook } from '@tollgate/book';

import { BookHolder } from '../book/book-holder.js';
import { ForOperators, OperatorController } from './operator-controller.js';

@OperatorController('backup')
export class BackupController {
  constructor(@Inject(BookHolder) private readonly book: BookHolder) {}

  /** It shows everything, so it is recorded as a write is. */
  @Get()
  @ForOperators('operator:approve', 'Everything in the book at one moment, as lines of JSON, for BOOK_RESTORE', 'copy')
  copy(): StreamableFile {
    const { database } = this.book.writer;
    const stream = new PassThrough();
    const write = async (text: string): Promise<void> => {
      if (stream.destroyed) throw new Error('the reader of the copy is gone');
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
    };
    copyBook(database, write).then(
      () => stream.end(),
      // The reader notices that the end is missing.
      (error: unknown) => stream.destroy(error as Error),
    );
    return new StreamableFile(stream, { type: 'application/jsonl; charset=utf-8' });
  }
}
