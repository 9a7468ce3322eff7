import { Readable } from 'node:stream';

import { Inject, Req, StreamableFile } from '@nestjs/common';
import { copyBook } from '@tollgate/book';
import type { FastifyRequest } from 'fastify';

import { BookHolder } from '../book/book-holder.js';
import { LongReadings } from './long-readings.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

@OperatorController()
export class BackupController {
  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(LongReadings) private readonly readings: LongReadings,
  ) {}

  /** It shows everything, so it is recorded as a write is. */
  @Serve('GET /operator/backup')
  async copy(_: Operator<'GET /operator/backup'>, @Req() { method }: FastifyRequest): Promise<StreamableFile> {
    const { database } = this.book.writer;
    // Fastify reads a stream for a HEAD to its end, and throws it away.
    const stream =
      method === 'HEAD' ? Readable.from([]) : await this.readings.stream((write) => copyBook(database, write));
    return new StreamableFile(stream, { type: 'application/jsonl; charset=utf-8' });
  }
}
