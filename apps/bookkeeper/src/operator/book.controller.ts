import { Body, Get, Inject, Post } from '@nestjs/common';
import {
  countUnapplied,
  monthsBefore,
  readBalances,
  readClosings,
  readCompleteFrom,
  removeRequests,
  verifyBook,
  type Balance,
  type BookVerdict,
  type RemovedRequests,
  type SignedClosing,
} from '@tollgate/book';
import { onlyFields } from '@tollgate/http';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { DailyClosings } from '../closings/daily-closings.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { Troubles, type Trouble } from '../health/troubles.js';
import { LongReadings } from './long-readings.js';
import { ForOperators, OperatorController } from './operator-controller.js';

const LISTED = 400;
const MONTHS_WRONG = 'must be a whole number of months from 1 to 1200';

const retentionBody = onlyFields({
  months: z.int(MONTHS_WRONG).min(1, MONTHS_WRONG).max(1_200, MONTHS_WRONG),
});

/** Whether all is well, how far the book is, and who has it. */
export interface BookHealth {
  /** Nothing of `troubles` is there. */
  well: boolean;
  troubles: Trouble[];
  kind: 'pglite' | 'postgres';
  epoch: number;
  holder: string;
  since: string;
  /** Every change of money since then is in the book. */
  completeFrom: string | null;
  lastBooking: number;
  chainHash: string;
  /** Events that this release cannot read. */
  unreadEvents: number;
  /** Events that the database refuses to book. */
  refusedEvents: number;
  /** Times of which the book may lack events: it was restored from a copy, is new, or its database has lost some. */
  gaps: { since: string; until: string }[];
  /** Whose signature the closings have. */
  closingKey: string;
}

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

  @Get('health')
  @ForOperators('operator:read', 'What is wrong and how to mend it, how far the book is, and who has it')
  async health(): Promise<BookHealth> {
    const { database } = this.book.writer;
    const [row] = await database.query<BookRow>(
      `SELECT epoch, holder, since, last_booking AS "lastBooking", chain_hash AS "chainHash" FROM bookkeeper`,
    );
    if (row === undefined) throw new Error('the book has no row of its bookkeeper');
    const troubles = await this.troubles.find();
    const { unread, refused } = await countUnapplied(database);
    const completeFromMs = await readCompleteFrom(database);
    const gaps = await database.query<{ since: Date; until: Date }>('SELECT since, until FROM gaps ORDER BY since');
    return {
      ...{ well: troubles.length === 0, troubles, kind: database.kind, ...row },
      since: row.since.toISOString(),
      completeFrom: completeFromMs === null ? null : new Date(completeFromMs).toISOString(),
      unreadEvents: unread,
      refusedEvents: refused,
      closingKey: this.closings.signer,
      gaps: gaps.map(({ since, until }) => ({ since: since.toISOString(), until: until.toISOString() })),
    };
  }

  @Get('balances')
  @ForOperators('operator:read', 'The balance of each account and asset, in base units')
  async balances(): Promise<{ balances: Balance[] }> {
    return { balances: await readBalances(this.book.writer.database) };
  }

  @Get('verification')
  @ForOperators('operator:read', 'Recomputes the hash chain, and names the first row that is broken')
  verify(): Promise<BookVerdict> {
    if (this.#verifying === null) {
      const { database } = this.book.writer;
      const verifying = this.readings.run(() => verifyBook(database, this.environment.book.signers));
      this.#verifying = verifying.finally(() => (this.#verifying = null));
    }
    return this.#verifying;
  }

  @Get('closings')
  @ForOperators('operator:read', 'The signed closings, newest first')
  async list(): Promise<{ closings: SignedClosing[] }> {
    return { closings: await readClosings(this.book.writer.database, LISTED) };
  }

  @Post('closings')
  @ForOperators('operator:approve', 'Closes what has been booked so far, of today too', 'close')
  async close(): Promise<{ closings: SignedClosing[] }> {
    return { closings: await this.closings.closeNow(this.book.writer) };
  }

  @Post('retention')
  @ForOperators(
    'operator:approve',
    'Removes the request data of payments older than so many months; entries stay',
    'remove_requests',
  )
  async removeRequests(
    @Body({ schema: retentionBody }) { months }: z.output<typeof retentionBody>,
  ): Promise<RemovedRequests & { before: string }> {
    const beforeMs = monthsBefore(Date.now(), months);
    const removed = await removeRequests(this.book.writer, beforeMs);
    const { targets, deliveries } = this.payments.webhooks;
    await deliveries.removeBefore((await targets.list()).targets, beforeMs);
    return { before: new Date(beforeMs).toISOString(), ...removed };
  }
}
