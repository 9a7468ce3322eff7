/**
 * A bookkeeper that a spec kills: writes batch after batch, and prints the number of each before and after it is
 * committed. Its argument is the book's place, as JSON.
 */
import { claimBook, type BookPlace } from '../src/database/claim-book.js';
import { BookWriter } from '../src/posting/book-writer.js';
import { postEvents } from '../src/posting/post-events.js';
import { answered, deliver, SELLER, transferId } from './sample-events.js';

const BATCH = 20;

async function run(place: BookPlace): Promise<void> {
  const writer = await BookWriter.open(await claimBook(place), 'killed');
  for (let batch = 0; ; batch++) {
    const numbers = Array.from({ length: BATCH }, (_, index) => batch * BATCH + index);
    // The same ids in every run, as Redis delivers again what was not acknowledged.
    const events = numbers.map((number) => deliver(answered(transferId(number)), `1-${number}`));
    process.stdout.write(`writes ${batch}\n`);
    await postEvents(writer, events, SELLER);
    process.stdout.write(`wrote ${batch}\n`);
  }
}

void run(JSON.parse(process.argv[2] ?? '') as BookPlace);
