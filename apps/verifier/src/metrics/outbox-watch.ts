import { Logger } from '@nestjs/common';
import { observeGauge } from '@tollgate/common';
import type { Journal } from '@tollgate/journal';
import { readBookedSinceMs, type Ledger } from '@tollgate/ledger';
import type { RedisClient } from '@tollgate/redis';
import type { Registry } from 'prom-client';

const TRIM_EVERY_MS = 1_000;

interface WatchedOutbox {
  ledger: Pick<Ledger, 'trimOutbox'>;
  redis: RedisClient;
  chainIds: readonly number[];
  /** The relayers' journal. The holder of a lane trims its stream. */
  journal: Pick<Journal, 'readLanes' | 'readBookLength'>;
  limit: number;
}

/**
 * Trims the ledger's outbox of the book, which the bookkeeper itself may not write, and shows how long the outbox is.
 * Claims and settlements keep to its limit.
 */
export class OutboxWatch {
  readonly #logger = new Logger('Outbox');
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #hasWarned = false;
  #longest = 0;

  constructor(
    private readonly outbox: WatchedOutbox,
    registry: Registry,
  ) {
    const { redis, chainIds, limit } = outbox;
    observeGauge(
      registry,
      'tollgate_book_complete_since_seconds',
      'Unix time from which every payment is reported to the book; 0 while it is not.',
      async () => ((await readBookedSinceMs(redis, chainIds)) ?? 0) / 1000,
    );
    observeGauge(
      registry,
      'tollgate_book_outbox_events',
      'Events that the bookkeeper has not acknowledged: of payments, of refusals or of a relayer, whichever are most.',
      () => this.#longest,
    );
    observeGauge(
      registry,
      'tollgate_book_outbox_limit_events',
      'BOOK_OUTBOX_LIMIT: at this many events, payments that the ledger does not know and new settlements get 503.',
      () => limit,
    );
    this.#plan(0);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #plan(afterMs: number): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#trim(), afterMs).unref();
  }

  async #trim(): Promise<void> {
    try {
      const { ledger, journal } = this.outbox;
      const { payments, refused } = await ledger.trimOutbox();
      this.#longest = Math.max(payments, refused, await journal.readBookLength(await journal.readLanes()));
      this.#hasWarned = false;
    } catch (error) {
      if (!this.#hasWarned && !this.#isStopped) this.#logger.warn(`the outbox is not trimmed: ${String(error)}`);
      this.#hasWarned = true;
    }
    this.#plan(TRIM_EVERY_MS);
  }
}
