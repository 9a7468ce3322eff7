import { once } from 'node:events';

import { BookWriter, postEvents, type ClaimedDatabase } from '@tollgate/book';

import { createTestBook, type TestBook } from '../../../../libs/book/test/create-test-book.js';
import { answered, deliver, SELLER, transferId } from '../../../../libs/book/test/sample-events.js';
import { streamCopy } from './backup.controller.js';

describe('the stream of a copy', () => {
  let book: TestBook;
  let database: ClaimedDatabase;
  let writer: BookWriter;

  beforeAll(async () => {
    book = await createTestBook();
    database = await book.claim();
    writer = await BookWriter.open(database, 'spec');
    // More than the buffers of a stream take.
    const sold = Array.from({ length: 100 }, (_, index) => deliver(answered(transferId(index))));
    await postEvents(writer, sold, SELLER);
  });

  afterAll(async () => {
    await database.close();
    await book.remove();
  });

  it('is broken off where its reader takes nothing, and bookings go on', async () => {
    const stream = streamCopy(database, 300);
    const failed = once(stream, 'error') as Promise<[Error]>;
    await once(stream, 'readable');
    await postEvents(writer, [deliver(answered(transferId(200)))], SELLER);
    expect(String((await failed)[0])).toMatch(/takes nothing/);
    expect(stream.destroyed).toBe(true);
  });

  it('is whole where its reader takes all', async () => {
    const parts: Buffer[] = [];
    for await (const part of streamCopy(database, 30_000)) parts.push(part as Buffer);
    const last = Buffer.concat(parts).toString().trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ rows: expect.any(Number), sha256: expect.any(String) });
  });

  it('ends with its reader', async () => {
    const stream = streamCopy(database, 30_000);
    await once(stream, 'readable');
    stream.destroy();
    await postEvents(writer, [deliver(answered(transferId(201)))], SELLER);
  });
});
