import type { Answer } from '../answer/answer.js';
import type { SoldAnswer } from '../answer/sold-answer.js';
import type { GateEnd, GatePurchase } from './gate-purchase.js';
import type { GatedSale } from './gated-sale.js';

/** `headers`: to be added to the sold response. `answer`: to be sent instead of it. */
export type Settlement = { readonly headers: Readonly<Record<string, string>> } | { readonly answer: Answer };

/** A request with a valid payment that is not settled yet. `end` must be called in every case. */
export class PaidRequest {
  constructor(
    private readonly purchase: GatePurchase,
    private readonly sale: GatedSale,
    private readonly ended: Promise<GateEnd>,
  ) {}

  /**
   * Must be called when the response is complete and none of it has been sent. Never rejects.
   * @param isGone whether the client has disconnected
   */
  async settle(answer: SoldAnswer, isGone: () => boolean): Promise<Settlement> {
    this.sale.deliver({ answer, isGone });
    const end = await this.ended;
    return end.outcome === 'committed'
      ? { headers: this.sale.headersFor(answer, end.settled) }
      : { answer: this.purchase.answerTo(end) };
  }

  /**
   * Waits for a running settlement and releases the claim, so that the payment can be presented again. Never rejects.
   */
  async end(): Promise<void> {
    this.sale.deliver(null);
    const { outcome } = await this.ended;
    if (outcome === 'store_unavailable') await this.sale.giveUp();
  }
}
