import type { PaymentTrial, SettlementResult } from '@tollgate/common';
import type { Ledger } from '@tollgate/ledger';

import type { Claim } from './judge.js';
import { isMetered, parseCharge } from './metering.js';
import type { ProducedAnswer } from './paid-route.js';
import type { Order } from './resource-request.js';
import type { MadePayment } from './settlement-headers.js';

export interface PaymentMakerParts {
  readonly ledger: Pick<Ledger, 'fixAmount'>;
  /** Settles an order's signed payment. Never throws. */
  readonly settle: (order: Order, amountBaseUnits: bigint, trial?: PaymentTrial) => Promise<SettlementResult>;
  readonly assetDecimals: number;
}

interface SettleTerms {
  readonly afterWork: boolean;
  readonly trial?: PaymentTrial | undefined;
}

type Unsettled = Exclude<SettlementResult, { outcome: 'settled' }>;

/** The payment was not settled where its settlement was required. */
export class NotSettledError extends Error {
  constructor(
    readonly result: Unsettled,
    /** Whether the resource had already produced its response. */
    readonly afterWork: boolean,
  ) {
    super(`The payment was not settled: ${result.outcome}.`);
    this.name = 'NotSettledError';
  }
}

/** Another holder has taken over the payment. */
export class TakenOverError extends Error {
  override readonly name = 'TakenOverError';
}

/** Whether a released payment may have been settled: before the response was produced, or by an earlier request. */
export function mayBeMoved({ purchase }: Order, { txHash, isNamedBefore = false }: Claim): boolean {
  return txHash !== null || isNamedBefore || purchase.endpoint.route.settle === 'before';
}

/** Settles the payment of an order: a metered payment for the amount its response costs, any other for the price. */
export class PaymentMaker {
  constructor(private readonly parts: PaymentMakerParts) {}

  /**
   * @param produced the response that is paid for; undefined where it is produced after the settlement
   * @throws NotSettledError, TakenOverError, UpstreamError `mischarged`
   */
  async make(order: Order, claim: Claim, produced?: ProducedAnswer): Promise<MadePayment> {
    const { purchase } = order;
    const afterWork = produced !== undefined;
    if (!isMetered(purchase.instrument)) {
      const { txHash, payer } = await this.#settle(order, purchase.priceBaseUnits, { afterWork, trial: claim.trial });
      return { txHash, payer };
    }
    const amountBaseUnits = await this.#meter(order, claim, produced);
    // An amount of zero is not settled: the response is free.
    if (amountBaseUnits === 0n) return { txHash: null, payer: claim.payer, amountBaseUnits: '0' };
    return this.#settle(order, amountBaseUnits, { afterWork });
  }

  /**
   * Fixes the amount before it is submitted: a retry after a crash settles the same amount, even if the resource
   * reports another one then.
   */
  async #meter({ purchase }: Order, { lease }: Claim, produced: ProducedAnswer | undefined): Promise<bigint> {
    const { ledger, assetDecimals } = this.parts;
    const charge = parseCharge(produced?.charge, { maximumBaseUnits: purchase.priceBaseUnits, assetDecimals });
    const fixed = await ledger.fixAmount(lease, charge);
    if (fixed === null) throw new TakenOverError('The lease was taken over.');
    return fixed;
  }

  async #settle(order: Order, amountBaseUnits: bigint, { afterWork, trial }: SettleTerms) {
    const result = await this.parts.settle(order, amountBaseUnits, trial);
    if (result.outcome !== 'settled') throw new NotSettledError(result, afterWork);
    return result;
  }
}
