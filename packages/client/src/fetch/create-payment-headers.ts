import {
  encodeJsonHeader,
  encodePaymentCredential,
  encodeProof,
  isRecord,
  nonceOf,
  ownField,
  payloadOf,
  PAYMENT_IDENTIFIER,
  PAYMENT_SIGNATURE,
  X_PAYMENT,
  type Hex,
  type JsonRecord,
  type PaymentRequirement,
  type SignedPayment,
} from '@tollgate/protocol';
import { getAddress, sha256, stringToBytes } from 'viem';

import type { X402Requirement } from '../methods/registry.js';
import { credentialHeaderOf, isCharge, type ChargeRequirement } from '../offer/charge-requirement.js';
import { isSignable } from '../offer/signable-requirement.js';
import type { RedeemablePayment } from '../store/payment-store.js';

/** Identifies a signed payment: by its transaction, or by the nonce of its authorization. */
export type SignedName = { txHash: Hex } | { nonce: string };

/** The headers that prove a payment to a server. */
export interface ShownPayment {
  idempotencyKey: string;
  header: { name: string; value: string };
  signed: SignedName;
}

/** The parts of a payment that its proof shows. */
type ShowablePayment = Omit<RedeemablePayment, 'method' | 'url'>;

/** The proof of a mined transfer. */
function showTransfer(
  { network, maxAmountRequired, extra }: PaymentRequirement,
  txHash: Hex,
  { payer, idempotencyKey }: ShowablePayment,
): ShownPayment {
  const payload = { txHash, amount: maxAmountRequired, from: payer, reference: extra.reference };
  const value = encodeProof({ x402Version: 1, scheme: 'exact', network, payload });
  return { idempotencyKey, header: { name: X_PAYMENT, value }, signed: { txHash } };
}

/**
 * What a version 2 payment sends back of its challenge. A server that requires the extension `payment-identifier` gets
 * an id that is the same on every repeat; any other gets the extensions as they are. The nonce makes it another id for
 * another payment under the same key, and one that cannot be guessed.
 */
function answerExtensions(sent: JsonRecord, idempotencyKey: string, nonce: string): JsonRecord {
  const extensions = ownField(sent, 'extensions');
  const extension = isRecord(extensions) ? ownField(extensions, PAYMENT_IDENTIFIER) : undefined;
  const info = isRecord(extension) ? ownField(extension, 'info') : undefined;
  if (!isRecord(info) || ownField(info, 'required') !== true) return sent;
  const id = sha256(stringToBytes(`${idempotencyKey}\n${nonce}`)).slice(2, 34);
  const identified = { ...(extension as JsonRecord), info: { ...info, id } };
  return { ...sent, extensions: { ...(extensions as JsonRecord), [PAYMENT_IDENTIFIER]: identified } };
}

function showAuthorization(
  { x402Version, scheme, network, sent }: X402Requirement,
  signed: SignedPayment,
  idempotencyKey: string,
): ShownPayment['header'] {
  const payload = payloadOf(signed);
  return x402Version === 1
    ? { name: X_PAYMENT, value: encodeJsonHeader({ x402Version, scheme, network, payload }) }
    : {
        name: PAYMENT_SIGNATURE,
        value: encodeJsonHeader({ x402Version, ...answerExtensions(sent, idempotencyKey, nonceOf(signed)), payload }),
      };
}

/** The credential of a payment for a challenge of MPP. */
function showCharge(
  { challenge, network }: ChargeRequirement,
  { payer, transaction, authorization }: ShowablePayment,
): Pick<ShownPayment, 'header' | 'signed'> | null {
  const show = (payload: JsonRecord): ShownPayment['header'] => ({
    name: credentialHeaderOf(challenge),
    value: encodePaymentCredential({ challenge, payload, source: `did:pkh:${network}:${getAddress(payer)}` }),
  });
  if (transaction) {
    const { txHash } = transaction;
    return { header: show({ type: 'hash', hash: txHash }), signed: { txHash } };
  }
  if (authorization?.kind !== 'authorization') return null;
  const { authorization: terms, signature } = authorization;
  return { header: show({ type: 'authorization', ...terms, signature }), signed: { nonce: terms.nonce } };
}

/** The proof of a payment in the form that its server requires; null while nothing is signed. */
export function showPayment(payment: ShowablePayment): ShownPayment | null {
  const { requirement, transaction, authorization, idempotencyKey } = payment;
  if (isCharge(requirement)) {
    const shown = showCharge(requirement, payment);
    return shown && { idempotencyKey, ...shown };
  }
  if (!isSignable(requirement)) return transaction && showTransfer(requirement, transaction.txHash, payment);
  if (!authorization) return null;
  const signed = { nonce: nonceOf(authorization) };
  return { idempotencyKey, header: showAuthorization(requirement, authorization, idempotencyKey), signed };
}
