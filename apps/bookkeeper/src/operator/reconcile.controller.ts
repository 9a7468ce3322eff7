import { Get, Inject, Query } from '@nestjs/common';
import { readReconciliation, type Reconciliation } from '@tollgate/book';
import { onlyFields } from '@tollgate/http';
import type { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { Reconciler } from '../reconcile/reconciler.js';
import { ForOperators, OperatorController } from './operator-controller.js';
import { END_OF_TIME_MS, timeParameter } from './time-parameter.js';

const reconcileQuery = onlyFields({ from: timeParameter.optional(), to: timeParameter.optional() });
/** A comparison may take this long before its result counts as old. */
const COMPARED_WITHIN_MS = 120_000;

/** The last comparison of book and chain. */
export interface ReconcileAnswer extends Reconciliation {
  /** When it was made; null before the first. */
  comparedAt: string | null;
  /** Why the result is old; null: it is not. */
  trouble: string | null;
}

@OperatorController('reconcile')
export class ReconcileController {
  readonly #freshMs: number;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(Reconciler) private readonly reconciler: Reconciler,
    @Inject(BookkeeperEnvironment) { reconcile }: BookkeeperEnvironment,
  ) {
    this.#freshMs = 2 * reconcile.reconcileIntervalMs + COMPARED_WITHIN_MS;
  }

  @Get()
  @ForOperators('operator:read', 'What is on the chain only, in the book only, and different')
  async read(
    @Query({ schema: reconcileQuery }) { from, to }: z.output<typeof reconcileQuery>,
  ): Promise<ReconcileAnswer> {
    const { scope, state } = this.reconciler.status;
    const range = { fromMs: from ?? 0, toMs: to ?? END_OF_TIME_MS };
    const { database } = this.book.writer;
    const result = await database.snapshot((within) => readReconciliation(within, scope, range));
    const { comparedAtMs, trouble } = state;
    const isOld = comparedAtMs !== null && Date.now() - comparedAtMs > this.#freshMs;
    return {
      ...result,
      comparedAt: comparedAtMs === null ? null : new Date(comparedAtMs).toISOString(),
      trouble: trouble ?? (isOld ? 'the comparison has not come to its end' : null),
    };
  }
}
