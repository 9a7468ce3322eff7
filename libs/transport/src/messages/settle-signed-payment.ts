import { address, baseUnits, hash32, signedPayment } from '@tollgate/schemas';
import { z } from 'zod';

import { failure, unavailable } from './claims.js';
import { asked } from './question.js';
import { paymentSimulation, signedPaymentTerms } from './verify-signed-payment.js';

/** A gateway asks a verifier with a relayer's lane to settle a signed payment. */
export const SETTLE_SIGNED_PAYMENT = 'settle-signed-payment.v1';

/** Repeating the request joins the settlement in progress, or returns the result of one that ended. */
export const settleSignedPaymentRequest = z.object({
  requestId: asked.requestId,
  /** After it the answer is `pending`, and the settlement goes on. */
  deadlineMs: asked.deadlineMs,
  terms: signedPaymentTerms,
  payment: signedPayment,
  /** The amount to move: the price, or under scheme `upto` possibly less. Never zero: nothing is settled then. */
  amountBaseUnits: baseUnits,
  /** As in the verdict; a recent simulation need not be repeated. */
  simulation: paymentSimulation.exactOptional(),
});
export type SettleSignedPaymentRequest = z.output<typeof settleSignedPaymentRequest>;

export const settlementResult = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('settled'), txHash: hash32, payer: address, amountBaseUnits: baseUnits }),
  /** This service moved nothing, and none of its transactions in flight still can. */
  z.object({ outcome: z.literal('failed'), failure, txHash: hash32.nullable() }),
  /** Sent, or about to be; ask again. Must not be treated as a refusal: a payer asked to pay again would pay twice. */
  z.object({ outcome: z.literal('pending'), txHash: hash32.nullable() }),
  unavailable,
]);
export type SettlementResult = z.output<typeof settlementResult>;
