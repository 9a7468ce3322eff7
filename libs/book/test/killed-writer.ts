/**
 * A bookkeeper that a spec kills: writes batch after batch, and prints the number of each before and after it is
 * committed. Its arguments: the book's place, as JSON, and a call that fails once on the database's log after some batches.
 */
import fs from 'node:fs';

import { claimBook, type BookPlace } from '../src/database/claim-book.js';
import { BookWriter } from '../src/posting/book-writer.js';
import { postEvents } from '../src/posting/post-events.js';
import { answered, deliver, SELLER, transferId } from './sample-events.js';

const BATCH = 20;
const BATCHES_BEFORE_FAULT = 4;
const FAULTS = { fsyncSync: 'EIO', writeSync: 'ENOSPC' };

async function run(place: BookPlace, faulty: keyof typeof FAULTS | undefined): Promise<void> {
  const writer = await BookWriter.open(await claimBook(place), 'killed');
  for (let batch = 0; ; batch++) {
    const numbers = Array.from({ length: BATCH }, (_, index) => batch * BATCH + index);
    // The same ids in every run, as Redis delivers again what was not acknowledged.
    const events = numbers.map((number) => deliver(answered(transferId(number)), `1-${number}`));
    if (faulty !== undefined && batch === BATCHES_BEFORE_FAULT) failOnce(faulty);
    process.stdout.write(`writes ${batch}\n`);
    await postEvents(writer, events, SELLER);
    process.stdout.write(`wrote ${batch}\n`);
  }
}

function failOnce(name: keyof typeof FAULTS): void {
  const call = fs[name] as (file: number, ...rest: unknown[]) => number;
  const fail = (file: number, ...rest: unknown[]): number => {
    if (!fs.readlinkSync(`/proc/self/fd/${file}`).includes('pg_wal')) return call(file, ...rest);
    Object.assign(fs, { [name]: call });
    throw Object.assign(new Error(name), { code: FAULTS[name] });
  };
  Object.assign(fs, { [name]: fail });
}

void run(JSON.parse(process.argv[2] ?? '') as BookPlace, process.argv[3] as keyof typeof FAULTS | undefined);
