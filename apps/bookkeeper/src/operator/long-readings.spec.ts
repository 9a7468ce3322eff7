import { once } from 'node:events';

import { postEvents } from '@tollgate/book';

import { answered, deliver, SELLER, transferId } from '../../../../libs/book/test/sample-events.js';
import { useTestBook } from '../../../../libs/book/test/use-test-book.js';
import { streamCopy } from './backup.controller.js';

describe('the stream of a copy', () => {
  const book = useTestBook();

  beforeEach(async () => {
    // More than the buffers of a stream take.
    const sold = Array.from({ length: 100 }, (_, index) => deliver(answered(transferId(index))));
    await postEvents(book.writer, sold, SELLER);
  });

  it('is broken off where its reader takes nothing, and bookings go on', async () => {
    const stream = streamCopy(book.database, 300);
    const failed = once(stream, 'error') as Promise<[Error]>;
    await once(stream, 'readable');
    await postEvents(book.writer, [deliver(answered(transferId(200)))], SELLER);
    expect(String((await failed)[0])).toMatch(/takes nothing/);
    expect(stream.destroyed).toBe(true);
  });

  it('is whole where its reader takes all', async () => {
    const parts: Buffer[] = [];
    for await (const part of streamCopy(book.database, 30_000)) parts.push(part as Buffer);
    const last = Buffer.concat(parts).toString().trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ rows: expect.any(Number), sha256: expect.any(String) });
  });

  it('ends with its reader', async () => {
    const stream = streamCopy(book.database, 30_000);
    await once(stream, 'readable');
    stream.destroy();
    await postEvents(book.writer, [deliver(answered(transferId(201)))], SELLER);
  });
});
