import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import { Controller, Get, Inject, Req, StreamableFile, UseFilters } from '@nestjs/common';
import { copyBook, recordAct } from '@tollgate/book';
import type { ApiKey } from '@tollgate/common';
import type { FastifyRequest } from 'fastify';

import { BookHolder } from '../book/book-holder.js';
import { ForOperators, OperatorKey } from './operator-access.js';
import { OperatorErrorFilter } from './operator-error.filter.js';

@Controller('operator/backup')
@UseFilters(OperatorErrorFilter)
export class BackupController {
  constructor(@Inject(BookHolder) private readonly book: BookHolder) {}

  @Get()
  @ForOperators('operator:approve', 'Everything in the book at one moment, as lines of JSON, for BOOK_RESTORE')
  async copy(@OperatorKey() { id: keyId }: ApiKey, @Req() { id: requestId }: FastifyRequest): Promise<StreamableFile> {
    const { writer } = this.book;
    // It shows everything, so it is recorded as a write is.
    await recordAct(writer, { keyId, action: 'copy', subject: 'book', requestId, details: {} });
    const stream = new PassThrough();
    const write = async (text: string): Promise<void> => {
      if (stream.destroyed) throw new Error('the reader of the copy is gone');
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
    };
    copyBook(writer.database, write).then(
      () => stream.end(),
      // The reader notices that the end is missing.
      (error: unknown) => stream.destroy(error as Error),
    );
    return new StreamableFile(stream, { type: 'application/jsonl; charset=utf-8' });
  }
}
