import { type PayerSignature, PROXIES, readPayerSignature, splitSignature } from '@tollgate/chain';
import type { SettlementResult } from '@tollgate/common';
import {
  hashTransferAuthorization,
  type Hex,
  type PaymentFailure,
  type SignedAuthorization,
  type SignedPermit,
} from '@tollgate/protocol';
import { type AcceptedAssets, PaymentRefused } from '@tollgate/verification';

import type { SettleQuestion } from './parse-settle-request.js';
import { nameSettlement, type PaymentEntry } from './payment-entry.js';

export interface EntryTerms {
  chainId: number;
  assets: AcceptedAssets;
  /** Contracts that may be called to deploy a payer's wallet (EIP-6492), in lower case. */
  factories: ReadonlySet<Hex>;
}

const SETTINGS_DIFFER: SettlementResult = { outcome: 'unavailable', reason: 'settings_differ' };

/**
 * The name of the payment's settlement. The asker has verified the payment; this check makes sure that no gas is spent
 * on a payment that cannot be the one asked for.
 */
export function readName(
  { terms, payment, amountBaseUnits }: SettleQuestion,
  chainId: number,
): string | SettlementResult {
  const isPermit = payment.kind === 'permit2';
  if (isPermit && terms.chainId !== chainId) return SETTINGS_DIFFER;
  const mismatch = isPermit
    ? findPermitMismatch(payment, terms, BigInt(amountBaseUnits))
    : findMismatch(payment, terms, BigInt(amountBaseUnits));
  return mismatch === null ? nameSettlement({ ...terms, chainId }, payment, amountBaseUnits) : failed(mismatch);
}

/**
 * The payment in the form in which it is settled, or the result when it cannot be. `isAccount`: takes a signature of an
 * account's form as one without recovering its signer, the most expensive step here. Whether the payer has code, which
 * then decides on the signature, is checked before the payment shares a transaction.
 */
export function readEntry(
  question: SettleQuestion,
  { assets, factories }: EntryTerms,
  { isAccount }: { isAccount: boolean },
): PaymentEntry | SettlementResult {
  const { terms, payment, amountBaseUnits } = question;
  const { asset, payTo } = terms;
  if (payment.kind === 'permit2') {
    const { from: payer } = payment.permit2Authorization;
    return { kind: 'permit2', asset, payTo, payer, amountBaseUnits, payment };
  }
  const { authorization, signature } = payment;
  const domainSeparator = findDomain(assets, terms);
  if (typeof domainSeparator !== 'string') return domainSeparator;
  const { from: payer } = authorization;
  let signed: PayerSignature | null = isAccount ? splitSignature(signature) : null;
  if (signed === null) {
    const hash = hashTransferAuthorization(authorization, domainSeparator);
    signed = readPayerSignature(signature, { hash, payer, factories });
  }
  return { kind: 'authorization', asset, payTo, payer, amountBaseUnits, authorization, signature: signed };
}

/** The result instead, when gateway and verifier have different settings or do not accept the asset. */
function findDomain(assets: AcceptedAssets, terms: SettleQuestion['terms']): Hex | SettlementResult {
  try {
    return assets.findDomain(terms) ?? SETTINGS_DIFFER;
  } catch (error) {
    if (error instanceof PaymentRefused) return failed(error.failure);
    throw error;
  }
}

function findMismatch(
  { authorization: { to, value } }: SignedAuthorization,
  { payTo }: SettleQuestion['terms'],
  amount: bigint,
): PaymentFailure | null {
  if (to !== payTo) return 'recipient_mismatch';
  return BigInt(value) === amount ? null : 'amount_mismatch';
}

function findPermitMismatch(
  { scheme, permit2Authorization: { permitted, spender, witness } }: SignedPermit,
  { asset, payTo }: SettleQuestion['terms'],
  amount: bigint,
): PaymentFailure | null {
  const most = BigInt(permitted.amount);
  if (permitted.token !== asset) return 'asset_mismatch';
  if (spender !== PROXIES[scheme]) return 'spender_mismatch';
  if (witness.to !== payTo) return 'recipient_mismatch';
  const isFit = scheme === 'upto' ? amount > 0n && amount <= most : amount === most;
  return isFit ? null : 'amount_mismatch';
}

function failed(failure: PaymentFailure): SettlementResult {
  return { outcome: 'failed', failure, txHash: null };
}
