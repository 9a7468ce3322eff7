import { address, baseUnits, hash32, milliseconds, natural, signedPayment } from '@tollgate/schemas';
import { z } from 'zod';

import { failure, lease, taken, unavailable } from './claims.js';
import { asked, ledgerKey, shortText } from './question.js';

/** A gateway asks any verifier whether a signed payment can be settled, and to claim it. */
export const VERIFY_SIGNED_PAYMENT = 'verify-signed-payment.v1';

/** The terms that a signed payment must meet. */
export const signedPaymentTerms = z.object({
  chainId: natural,
  asset: address,
  /** The token's EIP-712 domain. */
  assetName: shortText,
  assetVersion: shortText,
  payTo: address,
  /** Under scheme `upto` the upper limit. */
  priceBaseUnits: baseUnits,
});
export type SignedPaymentTerms = z.output<typeof signedPaymentTerms>;

/** Repeating the request with the same `owner` is safe. */
export const verifySignedPaymentRequest = z.object({
  ...asked,
  terms: signedPaymentTerms,
  payment: signedPayment,
  /** How long a payment whose money has not moved must stay valid; absent: as long as a settlement usually takes. */
  validForMs: milliseconds.exactOptional(),
  /** Null when the payment is only to be checked, not claimed. */
  claim: z
    .object({
      /** 128 random bits, made by the gateway for this request. */
      owner: ledgerKey,
      fingerprint: ledgerKey,
      /** Hash of something that only the payer knows (the Idempotency-Key or the reference); null without one. */
      retryKey: ledgerKey.nullable(),
      leaseMs: milliseconds,
      /** Refused as `unknown_reference` unless its money has moved, and busy where it may still be moving. */
      mustBeSettled: z.literal(true).exactOptional(),
    })
    .nullable(),
});
export type VerifySignedPaymentRequest = z.output<typeof verifySignedPaymentRequest>;

/** A settlement that already happened, by an earlier attempt or by a third party that sent the signed payment. */
const earlierSettlement = z.object({
  txHash: hash32.nullable(),
  /** The amount moved, where it may be less than the price (scheme `upto`). */
  amountBaseUnits: baseUnits.exactOptional(),
});
export type EarlierSettlement = z.output<typeof earlierSettlement>;

/**
 * A simulation: at the newest block the call that settles the payment succeeded. Only for payers without code that
 * signed with their own key.
 */
export const paymentSimulation = z.object({
  /** When it was simulated, on the clock of the ledger's Redis. */
  atMs: milliseconds,
  /** The payer's balance at that time. */
  balanceBaseUnits: baseUnits,
});
export type PaymentSimulation = z.output<typeof paymentSimulation>;

export const signedPaymentVerdict = z.discriminatedUnion('outcome', [
  earlierSettlement.extend({
    outcome: z.literal('claimed'),
    lease,
    payer: address,
    simulation: paymentSimulation.exactOptional(),
  }),
  /** Only checked, as requested; nothing was claimed. */
  earlierSettlement.extend({ outcome: z.literal('valid'), payer: address }),
  ...taken,
  z.object({
    outcome: z.literal('refused'),
    failure,
    payer: address.exactOptional(),
    retryAfterMs: milliseconds.exactOptional(),
  }),
  unavailable,
]);
export type SignedPaymentVerdict = z.output<typeof signedPaymentVerdict>;
