import { Inject } from '@nestjs/common';
import { readReconciliation } from '@tollgate/book';
import { END_OF_TIME_MS } from '@tollgate/operator-api';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { Reconciler } from '../reconcile/reconciler.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

/** A comparison may take this long before its result counts as old. */
const COMPARED_WITHIN_MS = 120_000;

@OperatorController()
export class ReconcileController {
  readonly #freshMs: number;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(Reconciler) private readonly reconciler: Reconciler,
    @Inject(BookkeeperEnvironment) { reconcile }: BookkeeperEnvironment,
  ) {
    this.#freshMs = 2 * reconcile.reconcileIntervalMs + COMPARED_WITHIN_MS;
  }

  @Serve('GET /operator/reconcile')
  async read({ query: { from, to } }: Operator<'GET /operator/reconcile'>) {
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
