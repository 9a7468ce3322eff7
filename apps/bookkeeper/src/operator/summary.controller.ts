import { Inject } from '@nestjs/common';
import { readAudit, readSummary, type BookSummary, type SummaryWindow } from '@tollgate/book';
import type { PaymentOption } from '@tollgate/config';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

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

  @Serve('GET /operator/summary')
  summary({ query: { window } }: Operator<'GET /operator/summary'>): Promise<BookSummary> {
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

  @Serve('GET /operator/seller')
  seller() {
    const { options } = this.environment;
    const [first] = options;
    if (first === undefined) throw new Error('a seller accepts something');
    return { ...describeOption(first), options: options.map((one) => ({ name: one.name, ...describeOption(one) })) };
  }

  @Serve('GET /operator/audit')
  audit({ query }: Operator<'GET /operator/audit'>) {
    return readAudit(this.book.writer.database, query);
  }
}

function describeOption({ chain, asset, symbol, decimals, payTo }: PaymentOption) {
  return {
    network: chain.network,
    chainId: chain.id,
    asset: { address: asset, symbol, decimals },
    payTo,
    explorerUrl: chain.explorer?.replace(/\/+$/, '') ?? null,
  };
}
