import type { PaymentTrial, SettlementResult } from '@tollgate/common';
import type { Ledger } from '@tollgate/ledger';

import type { Claim } from './judge.js';
import { isMetered, parseCharge } from './metering.js';
import type { ProducedAnswer } from './paid-route.js';
import type { Order } from './resource-request.js';
import type { MadePayment } from './settlement-headers.js';

export interface PaymentMakerParts {
  readonly ledger: Pick<Ledger, 'fixAmount'>;
  /** Has an order's signed payment moved. Never throws. */
  readonly settle: (order: Order, amountBaseUnits: bigint, trial?: PaymentTrial) => Promise<SettlementResult>;
  readonly assetDecimals: number;
}

interface SettleTerms {
  readonly afterWork: boolean;
  readonly trial?: PaymentTrial | undefined;
}

type Unsettled = Exclude<SettlementResult, { outcome: 'settled' }>;

/** A payment that is not settled, at the place where it should have been. */
export class NotSettledError extends Error {
  constructor(
    readonly result: Unsettled,
    /** The resource had done its work. */
    readonly afterWork: boolean,
  ) {
    super(`The payment is not settled: ${result.outcome}.`);
    this.name = 'NotSettledError';
  }
}

/** Another holder has the payment now. */
export class TakenOverError extends Error {
  override readonly name = 'TakenOverError';
}

/** Whether a payment that is given back was moved before its answer was made, or may be on its way since an earlier request. */
export function mayBeMoved({ purchase }: Order, { txHash, isNamedBefore = false }: Claim): boolean {
  return txHash !== null || isNamedBefore || purchase.endpoint.route.settle === 'before';
}

/** Has the payment of an order made: a metered one over what its answer came to, any other over the price. */
export class PaymentMaker {
  constructor(private readonly parts: PaymentMakerParts) {}

  /**
   * @param produced the answer that is paid for; undefined where it is made afterwards
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
    // For nothing, nothing is sent: the answer is free.
    if (amountBaseUnits === 0n) return { txHash: null, payer: claim.payer, amountBaseUnits: '0' };
    return this.#settle(order, amountBaseUnits, { afterWork });
  }

  /** Fixed before it is sent: whoever tries again after a crash has the same amount moved, whatever he is told then. */
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
