import { Inject } from '@nestjs/common';
import {
  countUnapplied,
  monthsBefore,
  readBalances,
  readClosings,
  readCompleteFrom,
  removeRequests,
  verifyBook,
  type BookVerdict,
} from '@tollgate/book';
import type { BookHealth } from '@tollgate/operator-api';

import { BookHolder } from '../book/book-holder.js';
import { DailyClosings } from '../closings/daily-closings.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { Troubles } from '../health/troubles.js';
import { LongReadings } from './long-readings.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

const LISTED = 400;
type BookRow = Pick<BookHealth, 'epoch' | 'holder' | 'lastBooking' | 'chainHash'> & {
  since: Date;
};

@OperatorController()
export class BookController {
  /** All who ask meanwhile get it. */
  #verifying: Promise<BookVerdict> | null = null;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(DailyClosings) private readonly closings: DailyClosings,
    @Inject(Troubles) private readonly troubles: Troubles,
    @Inject(LongReadings) private readonly readings: LongReadings,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
    @Inject(PaymentWebhooks) private readonly payments: PaymentWebhooks,
  ) {}

  @Serve('GET /operator/health')
  async health() {
    const { database } = this.book.writer;
    const [row] = await database.query<BookRow>(
      `SELECT epoch, holder, since, last_booking AS "lastBooking", chain_hash AS "chainHash" FROM bookkeeper`,
    );
    if (row === undefined) throw new Error('the book has no row of its bookkeeper');
    const troubles = await this.troubles.find();
    const { unread, refused } = await countUnapplied(database);
    const completeFromMs = await this.#readCompleteFrom();
    const gaps = await database.query<{ since: Date; until: Date }>('SELECT since, until FROM gaps ORDER BY since');
    return {
      well: troubles.length === 0,
      troubles,
      kind: database.kind,
      ...row,
      since: row.since.toISOString(),
      completeFrom: completeFromMs === null ? null : new Date(completeFromMs).toISOString(),
      unreadEvents: unread,
      refusedEvents: refused,
      closingKey: this.closings.signer,
      gaps: gaps.map(({ since, until }) => ({ since: since.toISOString(), until: until.toISOString() })),
    };
  }

  /** Of all chains; null: of one it is not known. */
  async #readCompleteFrom(): Promise<number | null> {
    let latestMs = 0;
    for (const { id } of this.environment.chains) {
      const completeFromMs = await readCompleteFrom(this.book.writer.database, id);
      if (completeFromMs === null) return null;
      latestMs = Math.max(latestMs, completeFromMs);
    }
    return latestMs;
  }

  @Serve('GET /operator/balances')
  async balances() {
    return { balances: await readBalances(this.book.writer.database) };
  }

  @Serve('GET /operator/verification')
  verify(): Promise<BookVerdict> {
    if (this.#verifying === null) {
      const { database } = this.book.writer;
      const verifying = this.readings.run(() => verifyBook(database, this.environment.book.signers));
      this.#verifying = verifying.finally(() => (this.#verifying = null));
    }
    return this.#verifying;
  }

  @Serve('GET /operator/closings')
  async list() {
    return { closings: await readClosings(this.book.writer.database, LISTED) };
  }

  @Serve('POST /operator/closings')
  async close() {
    return { closings: await this.closings.closeNow(this.book.writer) };
  }

  @Serve('POST /operator/retention')
  async removeRequests({ body }: Operator<'POST /operator/retention'>) {
    const beforeMs = monthsBefore(Date.now(), body.months);
    const removed = await removeRequests(this.book.writer, beforeMs);
    const { targets, deliveries } = this.payments.webhooks;
    await deliveries.removeBefore((await targets.list()).targets, beforeMs);
    return { before: new Date(beforeMs).toISOString(), ...removed };
  }
}
