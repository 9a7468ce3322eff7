import { Inject } from '@nestjs/common';
import { readReconciliation } from '@tollgate/book';
import { END_OF_TIME_MS } from '@tollgate/operator-api';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import type { ReconcilerState } from '../reconcile/chain-reconciler.js';
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
    const compared = this.reconciler.status;
    const range = { fromMs: from ?? 0, toMs: to ?? END_OF_TIME_MS };
    const { database } = this.book.writer;
    const read = await database.snapshot((within) =>
      readReconciliation(
        within,
        compared.map(({ scope }) => scope),
        range,
      ),
    );
    const scopes = read.scopes.map((scope, index) => ({ ...scope, ...this.#describe(compared[index]?.state) }));
    const [first] = scopes;
    if (first === undefined) throw new Error('a reconciler compares something');
    const times = scopes.map(({ comparedAt }) => comparedAt);
    return {
      ...first,
      ...read,
      scopes,
      waiting: {
        transfers: scopes.reduce((sum, { waiting }) => sum + waiting.transfers, 0),
        payments: scopes.reduce((sum, { waiting }) => sum + waiting.payments, 0),
      },
      comparedAt: times.includes(null) ? null : (times.toSorted()[0] ?? null),
      trouble: scopes.find(({ trouble }) => trouble !== null)?.trouble ?? null,
    };
  }

  #describe({ comparedAtMs, trouble }: ReconcilerState = { comparedAtMs: null, trouble: null }) {
    const isOld = comparedAtMs !== null && Date.now() - comparedAtMs > this.#freshMs;
    return {
      comparedAt: comparedAtMs === null ? null : new Date(comparedAtMs).toISOString(),
      trouble: trouble ?? (isOld ? 'the comparison has not come to its end' : null),
    };
  }
}
