import { Readable } from 'node:stream';

import { Get, Inject, Req, StreamableFile } from '@nestjs/common';
import { copyBook } from '@tollgate/book';
import type { FastifyRequest } from 'fastify';

import { BookHolder } from '../book/book-holder.js';
import { LongReadings } from './long-readings.js';
import { ForOperators, OperatorController } from './operator-controller.js';

@OperatorController('backup')
export class BackupController {
  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(LongReadings) private readonly readings: LongReadings,
  ) {}

  /** It shows everything, so it is recorded as a write is. */
  @Get()
  @ForOperators('operator:approve', 'Everything in the book at one moment, as lines of JSON, for BOOK_RESTORE', 'copy')
  async copy(@Req() { method }: FastifyRequest): Promise<StreamableFile> {
    const { database } = this.book.writer;
    // Fastify reads a stream for a HEAD to its end, and throws it away.
    const stream =
      method === 'HEAD' ? Readable.from([]) : await this.readings.stream((write) => copyBook(database, write));
    return new StreamableFile(stream, { type: 'application/jsonl; charset=utf-8' });
  }
}
