import { Inject, Injectable, Logger } from '@nestjs/common';
import {
  bookEvents,
  BookUnavailableError,
  bookUnapplied,
  DeposedError,
  FIRST_UNAPPLIED,
  notePositions,
  type BookWriter,
  type DeliveredEvent,
  type BookSeller,
  type Posted,
  type StreamPosition,
} from '@tollgate/book';
import type { PaymentChain } from '@tollgate/config';
import { pause, Wakeable } from '@tollgate/journal';
import { isBookOff, readBookedSinceMs } from '@tollgate/ledger';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookMetrics } from '../metrics/book-metrics.js';
import { BookChanges } from './book-changes.js';
import { BookkeeperConnections } from './connections.js';
import { OutboxStreams } from './outbox-streams.js';

const PAUSE_MS = 500;
const NOTE_EVERY_MS = 5_000;
/** A bookkeeper that was deposed may have taken entries after its successor looked for them. */
const LOOK_BACK_EVERY_MS = 5_000;

/** Writes the outbox into the book: a batch is one transaction, and is acknowledged when it is committed. */
@Injectable()
export class OutboxDrain {
  readonly #logger = new Logger('Outbox');
  readonly #streams: OutboxStreams;
  readonly #seller: BookSeller;
  #isRunning = false;
  #isFailing = false;
  /** By chain, as the book has it; without one of which that is not known. */
  readonly #completeFromMs = new Map<number, number | null>();
  #readToEndAtMs = 0;
  readonly #chains: readonly PaymentChain[];
  /** `#readToEndAtMs` on the monotonic clock. */
  #lastReadMs = 0;
  /** Those who wait until the outbox is read to its end, and since when. */
  readonly #waiting = new Map<Wakeable, number>();

  constructor(
    @Inject(BookkeeperEnvironment) { book, chains, scopes }: BookkeeperEnvironment,
    @Inject(BookkeeperConnections) private readonly connections: BookkeeperConnections,
    @Inject(BookMetrics) private readonly metrics: BookMetrics,
    @Inject(BookChanges) private readonly changes: BookChanges,
  ) {
    this.#streams = new OutboxStreams(connections.outbox, connections.commands, book.bookBatch);
    this.#chains = chains;
    this.#seller = scopes;
    metrics.observeLag(() => this.readLag());
  }

  /** Events that are not in the book, and the milliseconds since the oldest of them was written. */
  readLag(): Promise<{ events: number; ageMs: number }> {
    return this.#streams.readLag();
  }

  /** Keys of the outbox that are no streams. */
  get otherKeys(): string[] {
    return this.#streams.otherKeys;
  }

  /** Every event that was reported before this time is in the book, in milliseconds since 1970. */
  get readToEndAtMs(): number {
    return this.#readToEndAtMs;
  }

  /** Waits until every event that has been reported by now is in the book; false: it is not within this time, or the drain ends. */
  async waitUntilRead(patienceMs: number): Promise<boolean> {
    if (!this.#isRunning) return false;
    const [waiting, askedAtMs] = [new Wakeable(), performance.now()];
    this.#waiting.set(waiting, askedAtMs);
    this.#streams.wake();
    await waiting.sleep(patienceMs);
    this.#waiting.delete(waiting);
    return this.#lastReadMs > askedAtMs;
  }

  /** Until the signal is aborted; goes on when Redis or the database is back. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    try {
      await this.#readUntilAborted(writer, signal);
    } finally {
      this.#isRunning = false;
      for (const waiting of this.#waiting.keys()) waiting.wake();
    }
  }

  async #readUntilAborted(writer: BookWriter, signal: AbortSignal): Promise<void> {
    let [lookedBackAtMs, notedAtMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let unapplied: StreamPosition | null = FIRST_UNAPPLIED;
    // The database may be another one than before, or have lost what it had.
    this.#completeFromMs.clear();
    this.#readToEndAtMs = 0;
    while (!signal.aborted) {
      try {
        // Before the streams are found: an event that is reported later may be in one that is new.
        const [askedAtMs, nowMs] = [Date.now(), performance.now()];
        const isStreamNew = await this.#streams.find();
        // Of a new stream before it is read: what another book has of it is no longer seen behind what this one has read.
        if (isStreamNew || nowMs - notedAtMs > NOTE_EVERY_MS) {
          await this.#noteSince(writer);
          notedAtMs = nowMs;
        }
        unapplied = await this.#postUnapplied(writer, unapplied);
        if (nowMs - lookedBackAtMs > LOOK_BACK_EVERY_MS) {
          while ((await this.#post(writer, await this.#streams.readUnacknowledged())) > 0 && !signal.aborted);
          lookedBackAtMs = nowMs;
        }
        const isAwaited = (): boolean => unapplied !== null || this.#waiting.size > 0;
        await this.#post(writer, await this.#streams.readNew(isAwaited));
        if (!this.#streams.hasMore) this.#noteEnd(askedAtMs, nowMs);
        this.#isFailing = false;
      } catch (error) {
        if (error instanceof DeposedError || signal.aborted) throw error;
        this.#report(error);
        // What was read and not written is looked for at once, and a Redis that came back empty has no groups.
        lookedBackAtMs = notedAtMs = Number.NEGATIVE_INFINITY;
        this.#streams.forget();
        await pause(PAUSE_MS, signal);
      }
    }
  }

  /** All that was reported before these times of the two clocks is in the book. */
  #noteEnd(askedAtMs: number, nowMs: number): void {
    [this.#readToEndAtMs, this.#lastReadMs] = [askedAtMs, nowMs];
    for (const [waiting, sinceMs] of this.#waiting) {
      if (sinceMs >= nowMs) continue;
      this.#waiting.delete(waiting);
      waiting.wake();
    }
  }

  /** Notes since when the book has every event; first what it lacks, so that no time appears complete meanwhile. */
  async #noteSince(writer: BookWriter): Promise<void> {
    const { commands } = this.connections;
    const since = await Promise.all(this.#chains.map(async ({ id }) => readBookedSinceMs(commands, [id])));
    const firstMs = Math.min(...since.map((sinceMs) => sinceMs ?? Date.now()));
    const gap = await notePositions(writer, await this.#streams.readAcknowledged(), firstMs);
    if (gap !== null) {
      const times = `${gap.since.toISOString()} to ${gap.until.toISOString()}`;
      this.#logger.error(`the book lacks events that are acknowledged in Redis: it has a gap from ${times}`);
    }
    for (const [index, chain] of this.#chains.entries()) await this.#noteComplete(writer, chain, since[index] ?? null);
  }

  async #noteComplete(writer: BookWriter, { id, network }: PaymentChain, sinceMs: number | null): Promise<void> {
    const beforeMs = this.#completeFromMs.get(id);
    if (sinceMs === beforeMs) return;
    // Of a chain that no process has used yet, nothing is sold that the book would lack.
    if (sinceMs === null && !(await isBookOff(this.connections.commands, [id]))) return;
    await writer.noteCompleteFrom(id, sinceMs);
    this.#warnOfBookOff(network, sinceMs, beforeMs);
    this.#completeFromMs.set(id, sinceMs);
  }

  /** Where processes with and without the book take turns, the time moves on with their sales, and is seldom missing. */
  #warnOfBookOff(network: string, sinceMs: number | null, beforeMs: number | null | undefined): void {
    const mend = 'Set BOOK=on at every gateway, verifier and agent worker.';
    if (sinceMs === null) {
      this.#logger.warn(`a process with BOOK=off uses the ledger: the book lacks what it sells on ${network}. ${mend}`);
    } else if (typeof beforeMs === 'number') {
      const from = new Date(sinceMs).toISOString();
      const why = 'a process with BOOK=off sold before it, or Redis lost data';
      this.#logger.warn(`the book is complete only from ${from} on ${network}: ${why}. ${mend}`);
    }
  }

  /** Tries a page of the events that were kept again, between two reads: there may be many. Returns where the next begins. */
  async #postUnapplied(writer: BookWriter, from: StreamPosition | null): Promise<StreamPosition | null> {
    if (from === null) return null;
    const { next, ...posted } = await bookUnapplied(writer, this.#seller, from);
    this.#count(posted);
    return next;
  }

  /** Returns the number of events in the batch. */
  async #post(writer: BookWriter, delivered: readonly DeliveredEvent[]): Promise<number> {
    if (delivered.length === 0) return 0;
    this.#count(await bookEvents(writer, delivered, this.#seller));
    this.changes.note();
    await this.#streams.acknowledge(delivered);
    return delivered.length;
  }

  #count(posted: Posted): void {
    this.metrics.count(posted);
    if (posted.refused === 0) return;
    this.#logger.error(`${posted.refused} events are refused by the database and not booked: GET /operator/health`);
  }

  #report(error: unknown): void {
    this.metrics.failed();
    if (this.#isFailing) return;
    this.#isFailing = true;
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof BookUnavailableError) this.#logger.warn(`the book waits: ${reason}`);
    else this.#logger.error({ msg: `the outbox is not read: ${reason}`, err: error });
  }
}
