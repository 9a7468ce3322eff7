import { createHash } from 'node:crypto';

import type { AnsweredFacts, PaymentTimeline, SaleFacts } from '@tollgate/book-events';
import type { Lease } from '@tollgate/ledger';
import { caip2Of, lowerHex, schemeOf } from '@tollgate/protocol';

import type { MadePayment } from '../answer/settlement-headers.js';
import type { Order, Purchase } from '../present/purchase.js';
import type { QuestionTerms } from '../verify/verify-questions.js';
import { bookedQuery } from './booked-query.js';

/** The times of one sale, on Redis's clock. The ledger's commit adds its own. */
export class SaleClock {
  readonly #times: PaymentTimeline;
  /** No later step is dated before this one: the claim is by Redis's clock itself, and this process's reading may lag. */
  #latestMs: number;
  #askedAtMs: number | null = null;

  /** @param startedAtMs of the request, by `performance.now()`, as are all the times in between */
  constructor(
    private readonly nowMs: () => number,
    { startedAtMs, lease, leaseMs }: { startedAtMs: number; lease: Lease; leaseMs: number },
  ) {
    const claimedAtMs = lease.untilMs - leaseMs;
    this.#latestMs = claimedAtMs;
    const verifiedAtMs = this.#now();
    const presentedAtMs = Math.min(claimedAtMs, Math.floor(verifiedAtMs - (performance.now() - startedAtMs)));
    this.#times = { presentedAtMs, verifiedAtMs, claimedAtMs, fulfilledAtMs: null, settledAtMs: null };
  }

  noteAsked(): void {
    this.#askedAtMs = this.#now();
  }

  noteFulfilled(): void {
    this.#times.fulfilledAtMs = this.#now();
  }

  noteSettled(): void {
    this.#times.settledAtMs = this.#now();
  }

  /** How long the resource took; null without one. */
  get upstreamMs(): number | null {
    const { fulfilledAtMs } = this.#times;
    return this.#askedAtMs === null || fulfilledAtMs === null ? null : Math.max(0, fulfilledAtMs - this.#askedAtMs);
  }

  read(): PaymentTimeline {
    return { ...this.#times };
  }

  #now(): number {
    return (this.#latestMs = Math.max(this.#latestMs, this.nowMs()));
  }
}

/** The sale as the book records it. @param money what is known of it: from the claim, or from the settlement */
export function describeSale(
  { purchase, caller }: Order,
  { lease, bound }: { lease: Lease; bound?: boolean },
  { terms, leftOutOfQueries }: { terms: QuestionTerms; leftOutOfQueries: readonly string[] | null },
  money: MadePayment,
): SaleFacts {
  const { instrument, endpoint } = purchase;
  const isTransaction = instrument.kind === 'transaction';
  const { chainId, asset, payTo } = isTransaction ? terms : terms.signed;
  // The verifiers honour the price of a challenge only for a transaction that is bound to it.
  const price = (bound === false ? purchase.sold : purchase).priceBaseUnits.toString();
  return {
    requestId: caller.requestId,
    route: endpoint.route.path,
    path: purchase.sent.path,
    ...(leftOutOfQueries && { query: bookedQuery(purchase.query, leftOutOfQueries) }),
    method: purchase.method,
    scheme: bookedSchemeOf(purchase),
    network: caip2Of(chainId),
    chainId,
    asset: lowerHex(asset),
    payTo: lowerHex(payTo),
    payer: money.payer ?? null,
    // A signed payment of a fixed price moves exactly that; of a transaction the amount may not be known.
    amount: money.amountBaseUnits ?? (isTransaction ? null : price),
    price,
    transaction: money.txHash,
    logIndex: lease.id.kind === 'transfer' ? lease.id.logIndex : null,
  };
}

/** What the sold answer adds. @param body null: it is streamed */
export function describeAnswer(
  sale: SaleFacts,
  { fingerprint, status, body, clock }: { fingerprint: string; status: number; body: Buffer | null; clock: SaleClock },
): AnsweredFacts {
  return {
    ...sale,
    requestHash: fingerprint,
    answerHash: body && createHash('sha256').update(body).digest('hex'),
    status,
    bytes: body && body.length,
    upstreamMs: clock.upstreamMs,
    timeline: clock.read(),
  };
}

function bookedSchemeOf({ form, instrument }: Purchase): string {
  if (instrument.kind === 'transaction') return 'tx-hash';
  return form === 'mpp' ? 'charge' : schemeOf(instrument);
}
