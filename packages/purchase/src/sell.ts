import type {
  ClaimedState,
  ClaimedPurchase,
  Fulfilment,
  Presented,
  PresentedPurchase,
  PurchaseEnd,
  ReleaseTerms,
  Replay,
  Settled,
  SettlementOutcome,
  SpentState,
  TurnedAway,
  Unsettled,
} from './purchase.js';

/** Takes a presented payment to its end: verify, claim, fulfil; a spent one gets its answer again. Never rejects. */
export async function sell<State extends Presented, Product, Result extends SettlementOutcome, Answer>(
  purchase: PresentedPurchase<State, Product, Result, Answer>,
): Promise<PurchaseEnd<State, Product, Result, Answer>> {
  let state: State | ClaimedState<Product, Result>;
  try {
    state = (await purchase.find?.()) ?? (await purchase.verify());
    if (state.outcome === 'valid') state = (await purchase.claim?.()) ?? purchase.explain(new Error('not_claimed'));
  } catch (error) {
    state = purchase.explain(error);
  }
  if (state.outcome === 'claimed') return fulfil(state.purchase);
  if (state.outcome === 'answered') return replay(purchase, state as SpentState<State>);
  return state as TurnedAway<State>;
}

/** The answer of a spent payment: the stored one, or one that is produced again where that is safe. Never rejects. */
async function replay<State extends Presented, Product, Result extends SettlementOutcome, Answer>(
  purchase: PresentedPurchase<State, Product, Result, Answer>,
  spent: SpentState<State>,
): Promise<Replay<Answer>> {
  try {
    const stored = await purchase.readAnswer(spent);
    if (stored !== null) return { outcome: 'replayed', answer: stored };
    const answer = (await purchase.reproduce?.(spent)) ?? null;
    return answer === null ? { outcome: 'gone' } : { outcome: 'reproduced', answer };
  } catch (error) {
    return { outcome: 'not_replayed', error };
  }
}

/**
 * Takes a claimed purchase to its end: keeps the lease, produces, fixes the amount, settles, and commits or releases.
 * Never rejects.
 */
async function fulfil<Product, Result extends SettlementOutcome>(
  purchase: ClaimedPurchase<Product, Result>,
): Promise<Fulfilment<Product, Result>> {
  const keeper = new LeaseKeeper(purchase, purchase.leaseMs);
  try {
    let result = purchase.settled;
    if (result === null && purchase.settles === 'before') {
      result = await settle(purchase, null);
      if (result === null) return { outcome: 'taken_over', settled: null };
    }
    if (result !== null && !isSettled(result)) return await endUnsettled(purchase, result, false);
    const product = await purchase.produce(result, keeper.signal);
    if (!purchase.isCharged(product)) {
      const isReleased = await release(purchase, { cause: 'not_charged', pauseMs: purchase.pauseMsOf?.(product) ?? 0 });
      return isReleased ? { outcome: 'released', product } : { outcome: 'taken_over', settled: result };
    }
    if (result === null) {
      result = await settle(purchase, product);
      if (result === null) return { outcome: 'taken_over', settled: null };
      if (!isSettled(result)) return await endUnsettled(purchase, result, true);
    }
    // The commit ends the lease: a renewal that comes after it would abort a product that is still being read.
    keeper.stop();
    const isCommitted = await purchase.commit(product, result);
    return isCommitted
      ? { outcome: 'committed', product, settled: result }
      : { outcome: 'taken_over', settled: result };
  } catch (error) {
    return keeper.signal.aborted ? { outcome: 'taken_over', settled: null } : await endFailed(purchase, error);
  } finally {
    keeper.stop();
  }
}

/**
 * Records the settlement before it begins, if the store must know: a retry after a crash settles the same amount, whatever
 * its product costs. Null if another request has taken the payment over.
 */
async function settle<Product, Result extends SettlementOutcome>(
  purchase: ClaimedPurchase<Product, Result>,
  product: Product | null,
): Promise<Result | null> {
  const amountBaseUnits = purchase.amountOf(product);
  if (!purchase.recordsSettlement) return purchase.settle(amountBaseUnits);
  const fixed = await purchase.recordSettlement(amountBaseUnits);
  return fixed === null ? null : purchase.settle(fixed);
}

async function endUnsettled<Product, Result extends SettlementOutcome>(
  purchase: ClaimedPurchase<Product, Result>,
  result: Result,
  afterWork: boolean,
): Promise<Fulfilment<Product, Result>> {
  const end = { outcome: 'not_settled', result: result as Unsettled<Result> } as const;
  try {
    const isReleased = await release(purchase, { cause: 'not_settled', result, afterWork });
    return isReleased ? end : { outcome: 'taken_over', settled: null };
  } catch {
    // The lease expires, and the same payment can then be presented again.
    return result.outcome === 'pending' ? end : { outcome: 'store_unavailable' };
  }
}

async function endFailed<Product, Result extends SettlementOutcome>(
  purchase: ClaimedPurchase<Product, Result>,
  error: unknown,
): Promise<Fulfilment<Product, Result>> {
  const cause = purchase.reportFailure(error);
  if (cause === 'store') return { outcome: 'store_unavailable' };
  if (cause === 'unknown') return { outcome: 'held', error };
  try {
    const isReleased = await release(purchase, { cause });
    return isReleased ? { outcome: 'failed', error } : { outcome: 'taken_over', settled: null };
  } catch {
    return { outcome: 'store_unavailable' };
  }
}

function release<Product, Result extends SettlementOutcome>(
  purchase: ClaimedPurchase<Product, Result>,
  unspent: Unspent,
): Promise<boolean> {
  // What was not settled before the product is not settled.
  const wasSettled = purchase.settles === 'before' && unspent.cause !== 'not_settled';
  return purchase.release(releaseTermsFor(unspent, purchase.mayBeSettled || wasSettled));
}

function isSettled<Result extends SettlementOutcome>(result: Result): result is Settled<Result> {
  return result.outcome === 'settled';
}

/** A claimed payment that was not spent. */
type Unspent =
  | { readonly cause: 'not_charged'; readonly pauseMs: number }
  | { readonly cause: 'unreached' | 'failed' }
  | { readonly cause: 'not_settled'; readonly result: SettlementOutcome; readonly afterWork: boolean };

/**
 * The rules of release.
 * @param mayBeSettled whether the payment was or may have been settled before this result
 */
function releaseTermsFor(unspent: Unspent, mayBeSettled: boolean): ReleaseTerms {
  const { cause } = unspent;
  switch (cause) {
    case 'not_charged': {
      const { pauseMs } = unspent;
      // Busy is not failed: the pauses have a limit of their own.
      if (pauseMs > 0) return { cause, counted: false, pauseMs, forgetsAmount: false, mayBeSettled };
      return { cause, counted: true, forgetsAmount: false, mayBeSettled };
    }
    case 'failed':
      return { cause, counted: true, forgetsAmount: false, mayBeSettled };
    case 'unreached':
      // No work was done, so the attempt does not count against the payer.
      return { cause, counted: false, forgetsAmount: false, mayBeSettled };
    case 'not_settled':
      return { cause, ...termsOfUnsettled(unspent.result, unspent.afterWork, mayBeSettled) };
  }
}

function termsOfUnsettled(
  result: SettlementOutcome,
  afterWork: boolean,
  mayBeSettled: boolean,
): Omit<ReleaseTerms, 'cause'> {
  switch (result.outcome) {
    case 'failed':
      // Counts failures that cost work or gas: otherwise a payer that empties its account in the meantime could cause
      // them without limit.
      return { counted: afterWork || result.txHash !== null, forgetsAmount: true, mayBeSettled: false };
    case 'unavailable':
      return { counted: false, forgetsAmount: true, mayBeSettled };
    case 'settled':
    case 'pending':
      return { counted: false, forgetsAmount: false, mayBeSettled: true };
  }
}

/** Renews a claim's lease. `signal` is aborted when another request takes over the payment. */
class LeaseKeeper {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(
    private readonly claim: { renew(): Promise<boolean> },
    leaseMs: number,
  ) {
    this.#timer = setInterval(() => void this.#renew(), Math.ceil(leaseMs / 3));
    (this.#timer as { unref?: () => void }).unref?.();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    // If the store is unavailable, the lease may outlast the outage; the commit decides.
    const renewed = await this.claim.renew().catch(() => true);
    if (!renewed) this.#controller.abort(new Error('The lease was taken over.'));
  }
}
