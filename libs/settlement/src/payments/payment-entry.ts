import { hash } from 'node:crypto';

import {
  type ContractCall,
  type PayerSignature,
  planPermitTransfer,
  planTransfer,
  type PromisedPermit,
  type PromisedTransfer,
  unwrapSignature,
  readPayerSignature,
  splitSignature,
} from '@tollgate/chain';
import type { SettlementResult, SignedPaymentTerms, PaymentTrial, SettleSignedPaymentRequest } from '@tollgate/common';
import { type Hex, type SignedPayment, hashTransferAuthorization, type PaymentFailure } from '@tollgate/protocol';
import {
  readBaseUnits,
  readNumber,
  readObject,
  readSignedPaymentQuestion,
  type AcceptedAssets,
  PaymentRefused,
} from '@tollgate/verification';

/** A settlement request with the id of its message; every copy of the message has the same id. */
export type SettleQuestion = SettleSignedPaymentRequest & { questionId: string };

/** Parses a message into a request with addresses and hashes in lower case. @throws MalformedMessageError */
export function parseSettleRequest(message: unknown): SettleSignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    ...readSignedPaymentQuestion(fields),
    amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
    ...(fields.trial === undefined ? {} : { trial: parseTrial(fields.trial) }),
  };
}

function parseTrial(value: unknown): PaymentTrial {
  const fields = readObject(value, 'trial');
  return { atMs: readNumber(fields, 'atMs'), balanceBaseUnits: readBaseUnits(fields, 'balanceBaseUnits') };
}

/** Addresses are lower case. */
interface PaymentTerms {
  asset: Hex;
  payTo: Hex;
  payer: Hex;
  /** What `payTo` receives, in base units. */
  amountBaseUnits: string;
}

export interface AuthorizationEntry extends PaymentTerms, PromisedTransfer {
  kind: 'authorization';
  signature: PayerSignature;
}

export interface PermitEntry extends PaymentTerms, PromisedPermit {
  kind: 'permit2';
}

/** One payment to be settled, as carried by a relayer's job. */
export type PaymentEntry = AuthorizationEntry | PermitEntry;

/**
 * A name for everything that was signed, in 22 characters. Two authorizations with one nonce are two settlements: the
 * token accepts one of them, and each is judged by its own terms. A permit is settled once, whatever amount is moved.
 */
export function nameSettlement(
  { chainId, asset, payTo }: Pick<SignedPaymentTerms, 'chainId' | 'asset' | 'payTo'>,
  payment: SignedPayment,
  amountBaseUnits: string,
): string {
  const parts: (string | number)[] = [chainId];
  if (payment.kind === 'permit2') {
    parts.push(payTo, payment.kind, payment.scheme, JSON.stringify(payment.permit2Authorization));
  } else {
    const { from, to, value, validAfter, validBefore, nonce } = payment.authorization;
    parts.push(asset, payTo, amountBaseUnits, from, to, value, validAfter, validBefore, nonce);
  }
  return Buffer.from(hash('sha256', parts.join(' '), 'hex').slice(0, 32), 'hex').toString('base64url');
}

/** The call that settles the payment alone. `isDeployed`: the payer's contract exists. */
export function planEntry(entry: PaymentEntry, places: { multicall3: Hex; isDeployed: boolean }): ContractCall {
  if (entry.kind === 'authorization') {
    return planTransfer(entry.authorization, entry.signature, { ...places, asset: entry.asset });
  }
  const { payment, amountBaseUnits } = entry;
  return planPermitTransfer({ ...payment, signature: toPermit2(payment.signature) }, BigInt(amountBaseUnits));
}

/**
 * The signature in the form that was simulated: some wallets wrap what Permit2 accepts (EIP-6492), some write the bare
 * recovery bit.
 */
function toPermit2(signature: Hex): Hex {
  const wrapped = unwrapSignature(signature);
  if (wrapped !== null) return wrapped.bytes;
  const last = signature.length === 2 + 2 * 65 ? Number.parseInt(signature.slice(-2), 16) : 27;
  return last < 2 ? `0x${signature.slice(2, -2)}${(last + 27).toString(16)}` : signature;
}

/**
 * Whether the payment may share a transaction: only the token's code runs, which takes about the same gas each time. A
 * permit may not: under scheme `upto` only the relayer itself may be the sender.
 */
export function isShareable(entry: PaymentEntry): entry is AuthorizationEntry {
  return entry.kind === 'authorization' && entry.signature.kind === 'account';
}

/** The result for a payer that has paid this amount. */
export function settledBy({ payer }: PaymentEntry, txHash: Hex, amountBaseUnits: string): SettlementResult {
  return { outcome: 'settled', txHash, payer, amountBaseUnits };
}

export interface EntryTerms {
  chainId: number;
  assets: AcceptedAssets;
  /** Contracts that may be called to deploy a payer's wallet (EIP-6492), in lower case. */
  factories: ReadonlySet<Hex>;
}

export const SETTINGS_DIFFER: SettlementResult = { outcome: 'unavailable', reason: 'settings_differ' };

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

/** The result for a payment that is not settled, before anything was sent for it. */
export function failed(failure: PaymentFailure): SettlementResult {
  return { outcome: 'failed', failure, txHash: null };
}
