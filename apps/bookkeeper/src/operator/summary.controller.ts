import { Get, Inject, Query } from '@nestjs/common';
import {
  readAudit,
  readSummary,
  SUMMARY_WINDOWS,
  type AuditPage,
  type BookSummary,
  type SummaryWindow,
} from '@tollgate/book';
import { limitParameter, onlyFields } from '@tollgate/http';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { ForOperators, OperatorController } from './operator-controller.js';

const summaryQuery = onlyFields({
  window: z.enum(SUMMARY_WINDOWS, `must be one of ${SUMMARY_WINDOWS.join(', ')}`).default('hour'),
});

const auditQuery = onlyFields({
  limit: limitParameter,
  before: z
    .string('must be given only once')
    .regex(/^[1-9]\d{0,15}$/, 'must be the id of an act')
    .transform(Number)
    .optional(),
});

/** What is sold, in which token, to whom, and where people look at transactions. */
export interface SellerFacts {
  network: string;
  chainId: number;
  asset: { address: string; symbol: string; decimals: number };
  payTo: string;
  explorerUrl: string | null;
}

const FRESH_MS = 1_000;
/** Summaries may take a twentieth of the database's time: one that takes long is kept for longer. */
const SHARE = 20;

@OperatorController()
export class SummaryController {
  readonly #kept = new Map<SummaryWindow, { reading: Promise<BookSummary>; freshUntilMs: number }>();

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
  ) {}

  @Get('summary')
  @ForOperators('operator:read', 'Money, counts and durations of the last hour, day or month')
  summary(@Query({ schema: summaryQuery }) { window }: z.output<typeof summaryQuery>): Promise<BookSummary> {
    const { database } = this.book.writer;
    const kept = this.#kept.get(window);
    const startMs = performance.now();
    if (kept !== undefined && startMs < kept.freshUntilMs) return kept.reading;
    const mine = { reading: readSummary(database, window, Date.now()), freshUntilMs: Number.POSITIVE_INFINITY };
    this.#kept.set(window, mine);
    mine.reading.then(
      () => (mine.freshUntilMs = performance.now() + Math.max(FRESH_MS, SHARE * (performance.now() - startMs))),
      () => this.#kept.delete(window),
    );
    return mine.reading;
  }

  @Get('seller')
  @ForOperators('operator:read', 'What the seller is paid in, to which account, on which chain')
  seller(): SellerFacts {
    const { payment, explorer } = this.environment;
    const { network, chainId, assetAddress, assetSymbol: symbol, assetDecimals: decimals, payTo } = payment;
    return {
      ...{ network, chainId, asset: { address: assetAddress.toLowerCase(), symbol, decimals } },
      ...{ payTo: payTo.toLowerCase(), explorerUrl: explorer.explorerUrl?.replace(/\/+$/, '') ?? null },
    };
  }

  @Get('audit')
  @ForOperators('operator:read', 'What people did through this API, newest first')
  audit(@Query({ schema: auditQuery }) query: z.output<typeof auditQuery>): Promise<AuditPage> {
    return readAudit(this.book.writer.database, query);
  }
}
