/** A refund, as `GET /operator/payments/<id>/refund` lists it. Amounts are base units of the payment's asset. */
export interface ListedRefund {
  readonly id: string;
  readonly number: number;
  readonly amount: string;
  readonly state: string;
  readonly askedAt: string;
  readonly job: string | null;
  readonly transaction: string | null;
  readonly detail: string | null;
}

/** What a refund would do. */
export interface RefundOffer {
  readonly payment: string;
  readonly number: number;
  readonly asset: string;
  readonly decimals: number;
  readonly arrived: string;
  readonly taken: string;
  readonly left: string;
  readonly recipient: { readonly address: string; readonly kind: 'account' | 'contract' | 'one_of_several' } | null;
  readonly boughtAnswer: boolean;
  /** Why another key has to approve it. */
  readonly doubts: readonly string[];
  readonly approvalAbove: string | null;
  readonly obstacles: readonly { readonly reason: string; readonly detail: string }[];
  readonly refunds: readonly ListedRefund[];
}

/** A refund's job is in the journal, of which the book's events say nothing. */
export const REFUND_EVERY_MS = 5_000;
