import { createReadStream } from 'node:fs';

import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  BookHeldError,
  BookUnavailableError,
  BookWriter,
  claimBook,
  CopyRefusedError,
  restoreBook,
  verifyBook,
  type ClaimedDatabase,
} from '@tollgate/book';
import { StillStartingError } from '@tollgate/common';
import { ConfigurationError } from '@tollgate/config';
import { ProblemError } from '@tollgate/http';
import { nameProcess, pause } from '@tollgate/journal';
import type { Refunds } from '@tollgate/refunds';

import { DailyClosings } from '../closings/daily-closings.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { PublishedEvents } from '../delivery/published-events.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { Reconciler } from '../reconcile/reconciler.js';
import { BookRefunds } from './book-refunds.js';

const CLAIM_EVERY_MS = 1_000;
const OPENING = 'it has not been opened yet';
/** PostgreSQL error codes that retrying does not fix: authorization, no such database, no right to create. */
const MISCONFIGURED = /^(28|3D|42501)/;

/** Opens the book when no other bookkeeper has it, works on it as long as it is ours, and waits again after that. */
@Injectable()
export class BookHolder implements OnApplicationShutdown {
  readonly #logger = new Logger('Book');
  readonly #owner = nameProcess();
  readonly #stopping = new AbortController();
  #open: BookWriter | null = null;
  #waitsFor = OPENING;
  #running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
    @Inject(OutboxDrain) private readonly drain: OutboxDrain,
    @Inject(DailyClosings) private readonly closings: DailyClosings,
    @Inject(Reconciler) private readonly reconciler: Reconciler,
    @Inject(PublishedEvents) private readonly nestEvents: PublishedEvents,
    @Inject(PaymentWebhooks) private readonly webhooks: PaymentWebhooks,
    @Inject(BookRefunds) private readonly bookRefunds: BookRefunds,
  ) {}

  /** Tries once, and goes on in the background. @throws ConfigurationError where waiting does not help */
  async start(): Promise<void> {
    this.#logger.log('opening the book');
    const first = await this.#claim();
    this.#running = this.#run(first);
  }

  get isActive(): boolean {
    return this.#open !== null;
  }

  /** The open book. @throws ProblemError 503 while this process does not have it */
  get writer(): BookWriter {
    if (this.#open !== null) return this.#open;
    const detail = `The book is not open in this bookkeeper: ${this.#waitsFor}`;
    throw new ProblemError({ status: 503, code: 'book_unavailable', detail, retryAfterMs: 2 * CLAIM_EVERY_MS });
  }

  /** The refunds of the open book. @throws ProblemError 503 while this process does not have it */
  get refunds(): Refunds {
    return this.bookRefunds.of(this.writer);
  }

  /** @throws Error with the reason while this process does not have the book, or the database does not answer */
  async assertOpen(): Promise<void> {
    const isOpening = this.#waitsFor === OPENING;
    if (this.#open === null)
      throw new (isOpening ? StillStartingError : Error)(`the book is not open here: ${this.#waitsFor}`);
    await this.#open.database.query('SELECT 1');
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(first: BookWriter | null): Promise<void> {
    const { signal } = this.#stopping;
    for (let claimed = first; !signal.aborted;) {
      if (claimed !== null) this.#wait(await this.#work(claimed));
      await pause(CLAIM_EVERY_MS, signal);
      if (signal.aborted) return;
      claimed = await this.#claim().catch((error: unknown) => this.#wait(String(error)));
    }
  }

  /** Returns why it ended. */
  async #work(writer: BookWriter): Promise<string> {
    this.#open = writer;
    this.#waitsFor = '';
    this.#logger.log(`the book is open (${writer.database.kind}), epoch ${writer.epoch}`);
    const ending = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, ending.signal]);
    const parts = [this.drain, this.closings, this.reconciler, this.bookRefunds, this.nestEvents, this.webhooks];
    const works = parts.map((part) => part.run(writer, signal));
    const ends = works.map((work) => work.then(() => 'this process is stopping', describeEnd));
    const reason = await Promise.race([writer.database.lost, ...ends]);
    this.#open = null;
    ending.abort();
    await Promise.all(ends);
    await writer.database.close();
    return reason;
  }

  async #claim(): Promise<BookWriter | null> {
    try {
      const database = await claimBook(this.environment.book.place);
      return await this.#take(database).catch(async (error: unknown) => {
        await database.close();
        throw error;
      });
    } catch (error) {
      if (error instanceof BookHeldError || error instanceof BookUnavailableError) return this.#wait(error.message);
      const { code = '', message = '' } = Object(error) as { code?: string; message?: string };
      if (MISCONFIGURED.test(code)) throw new ConfigurationError([`BOOK_DATABASE_URL: ${message}.`]);
      throw error;
    }
  }

  async #take(database: ClaimedDatabase): Promise<BookWriter> {
    const writer = await BookWriter.open(database, this.#owner);
    const { bookRestore } = this.environment.book;
    if (bookRestore !== undefined) this.#logger.warn(await restoreCopy(writer, bookRestore));
    return writer;
  }

  #wait(reason: string): null {
    // Logged once for each reason, however long it lasts.
    if (reason !== this.#waitsFor && !this.#stopping.signal.aborted) this.#logger.warn(`waits for the book: ${reason}`);
    this.#waitsFor = reason;
    return null;
  }
}

function describeEnd(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Writes the copy of BOOK_RESTORE into an empty book. Returns what to log.
 * @throws ConfigurationError for a file that is no whole copy; then nothing was written
 */
async function restoreCopy(writer: BookWriter, file: string): Promise<string> {
  try {
    const copy = await restoreBook(writer, readLines(file));
    if (copy === null) {
      // A process that ended while it waited for the commit does not know that it has restored it.
      const advice =
        'If an earlier start restored it, check it with tollgate book verify; else restore it into a new one.';
      return `${file} was not restored now: the book is not empty. ${advice} Remove BOOK_RESTORE.`;
    }
    const { broken } = await verifyBook(writer.database, []);
    const state =
      broken === null
        ? 'The restored book is whole'
        : `The book that was copied was broken, and so is this one: ${broken}`;
    return `${file} is restored: ${copy.lastBooking} bookings, as of ${copy.at}. ${state}. Remove BOOK_RESTORE.`;
  } catch (error) {
    const { code = '', path } = Object(error) as NodeJS.ErrnoException;
    if (!(error instanceof CopyRefusedError) && path === undefined) throw error;
    throw new ConfigurationError([
      `BOOK_RESTORE: ${file} cannot be restored: ${error instanceof CopyRefusedError ? error.message : code}`,
    ]);
  }
}

/** Ended by line feeds alone: newer Nodes' readline also ends lines at U+2028, which JSON text may contain. */
async function* readLines(file: string): AsyncGenerator<string> {
  let rest = '';
  // Closes the file too, when a refused copy is not read to its end.
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
