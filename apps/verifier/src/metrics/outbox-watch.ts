import { Logger } from '@nestjs/common';
import { observeGauge } from '@tollgate/common';
import { readBookedSinceMs, type Ledger, type OutboxLength } from '@tollgate/ledger';
import type { RedisClient } from '@tollgate/redis';
import type { Registry } from 'prom-client';

const TRIM_EVERY_MS = 1_000;

/**
 * Trims the outbox of the book, which the bookkeeper itself may not write, and shows how long it is. The claims that the
 * verifiers make keep to its limit.
 */
export class OutboxWatch {
  readonly #logger = new Logger('Outbox');
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #hasWarned = false;
  #length: OutboxLength = { payments: 0, refused: 0 };

  constructor(
    private readonly ledger: Pick<Ledger, 'trimOutbox'>,
    redis: RedisClient,
    registry: Registry,
    limit: number,
  ) {
    observeGauge(
      registry,
      'tollgate_book_complete_since_seconds',
      'Unix time from which every payment is reported to the book; 0 while it is not.',
      async () => ((await readBookedSinceMs(redis)) ?? 0) / 1000,
    );
    observeGauge(
      registry,
      'tollgate_book_outbox_events',
      'Events of payments that the bookkeeper has not acknowledged.',
      () => Math.max(this.#length.payments, this.#length.refused),
    );
    observeGauge(
      registry,
      'tollgate_book_outbox_limit_events',
      'BOOK_OUTBOX_LIMIT: at this many events, payments that the ledger does not know get 503.',
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
      this.#length = await this.ledger.trimOutbox();
      this.#hasWarned = false;
    } catch (error) {
      if (!this.#hasWarned && !this.#isStopped) this.#logger.warn(`the outbox is not trimmed: ${String(error)}`);
      this.#hasWarned = true;
    }
    this.#plan(TRIM_EVERY_MS);
  }
}
