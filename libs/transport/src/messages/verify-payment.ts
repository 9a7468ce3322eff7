import { address, baseUnits, hash32, hexBytes, milliseconds, natural } from '@tollgate/schemas';
import { z } from 'zod';

import { failure, lease, taken, unavailable } from './claims.js';
import { asked, ledgerKey, shortText } from './question.js';

/**
 * A gateway asks any verifier whether a transaction has paid, and to claim it. The version is part of the name: a
 * verifier of another version answers "no handler" instead of misreading a message.
 */
export const VERIFY_PAYMENT = 'verify-payment.v1';

/** Four times the size of a proof header, so no signature in one can be longer. */
const MAX_SIGNATURE = 32_768;

/** Repeating it with the same `owner` is safe. */
export const verifyPaymentRequest = z.object({
  ...asked,
  /** 128 random bits, made by the gateway for this request. */
  owner: ledgerKey,
  network: shortText,
  chainId: natural,
  asset: address,
  payTo: address,
  priceBaseUnits: baseUnits,
  txHash: hash32,
  /** Already authenticated by the gateway. */
  reference: z.object({ text: shortText, issuedAtMs: milliseconds, priceBaseUnits: baseUnits }).exactOptional(),
  signature: hexBytes.refine(({ length }) => length <= MAX_SIGNATURE).exactOptional(),
  fingerprint: ledgerKey,
  /**
   * Hash of what the client repeats to get its answer again: of a transaction by x402 v2 or MPP its reference. Null where
   * that is only a reference in `X-Payment`, and without any of them.
   */
  retryKey: ledgerKey.nullable(),
  /** A payment that is not bound to its reference may be presented with another one until it is answered. */
  keyReserves: z.literal(false).exactOptional(),
  leaseMs: milliseconds,
});
export type VerifyPaymentRequest = z.output<typeof verifyPaymentRequest>;

export const verifyPaymentVerdict = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('claimed'),
    lease,
    bound: z.boolean(),
    payer: address,
    /** What was transferred; missing if the policy does not say which transfer pays. */
    amountBaseUnits: baseUnits.exactOptional(),
  }),
  ...taken,
  z.object({ outcome: z.literal('refused'), failure, retryAfterMs: milliseconds.exactOptional() }),
  unavailable,
]);
export type VerifyPaymentVerdict = z.output<typeof verifyPaymentVerdict>;
