import { signedPaymentId } from '@tollgate/ledger';
import type { Hex, PaymentFailure, SignedTerms } from '@tollgate/protocol';
import { baseUnits } from '@tollgate/schemas';
import type { SettlementResult, SettleSignedPaymentRequest } from '@tollgate/transport';
import { z } from 'zod';

/** A settlement request with the id of its message; every copy of the message has the same id. */
export type SettleQuestion = SettleSignedPaymentRequest & { questionId: string };

/** What was signed, with the signature in the form in which the method sends it. */
export type SendablePayment = SignedTerms & { signature: unknown };

/** One payment to be settled, as carried by a relayer's job. Addresses are lower case. */
export interface PaymentEntry<Sent extends SendablePayment = SendablePayment> {
  asset: Hex;
  payTo: Hex;
  /** Set where `payTo` is another seller's: the facilitator settles it. */
  forOther?: true;
  payer: Hex;
  /** What `payTo` receives, in base units. */
  amountBaseUnits: string;
  payment: Sent;
}

/** What every job says of a payment beside what was signed. */
export const moved = z.object({ amountBaseUnits: baseUnits, forOther: z.literal(true).exactOptional() });

/** The id under which the payment is claimed. */
export function paymentIdOf(chainId: number, { asset, payment }: PaymentEntry): ReturnType<typeof signedPaymentId> {
  return signedPaymentId({ chainId, asset }, payment);
}

/** The result for a payer that has paid this amount. */
export function settledBy({ payer }: PaymentEntry, txHash: Hex, amountBaseUnits: string | bigint): SettlementResult {
  return { outcome: 'settled', txHash, payer, amountBaseUnits: String(amountBaseUnits) };
}

export const SETTINGS_DIFFER: SettlementResult = { outcome: 'unavailable', reason: 'settings_differ' };

/** The result for a payment that is not settled, before anything was sent for it. */
export function failed(failure: PaymentFailure): SettlementResult {
  return { outcome: 'failed', failure, txHash: null };
}
