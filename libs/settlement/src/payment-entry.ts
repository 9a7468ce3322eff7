import { hash } from 'node:crypto';

import {
  type ContractCall,
  findMoved,
  NO_FACTORIES,
  type PayerSignature,
  planPermitTransfer,
  planTransfer,
  type PromisedPermit,
  readPayerSignature,
  unwrapSignature,
} from '@tollgate/chain';
import { signedPaymentId } from '@tollgate/ledger';
import {
  AuthorizedTransfers,
  type EmittedLog,
  type PromisedTransfer,
  hashPermit2Domain,
  hashPermit2Transfer,
  type Hex,
  type SignedPayment,
  type SignedPermit,
  type PaymentFailure,
} from '@tollgate/protocol';
import type { SettlementResult, SignedPaymentTerms, SettleSignedPaymentRequest } from '@tollgate/transport';

/** A settlement request with the id of its message; every copy of the message has the same id. */
export type SettleQuestion = SettleSignedPaymentRequest & { questionId: string };

/** Addresses are lower case. */
interface PaymentTerms {
  asset: Hex;
  payTo: Hex;
  /** Set where `payTo` is another seller's: the facilitator settles it. */
  forOther?: true;
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

/** The id under which the payment is claimed. */
export function paymentIdOf(chainId: number, entry: PaymentEntry): ReturnType<typeof signedPaymentId> {
  return signedPaymentId({ chainId, asset: entry.asset }, entry.kind === 'permit2' ? entry.payment : entry);
}

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

/** Where the payment is settled. `isDeployed`: the payer's contract exists. */
export interface SettlementPlaces {
  chainId: number;
  multicall3: Hex;
  isDeployed: boolean;
}

/** The call that settles the payment alone. */
export function planEntry(entry: PaymentEntry, { chainId, ...places }: SettlementPlaces): ContractCall {
  if (entry.kind === 'authorization') {
    return planTransfer(entry.authorization, entry.signature, { ...places, asset: entry.asset });
  }
  const { payment, amountBaseUnits } = entry;
  return planPermitTransfer({ ...payment, signature: toPermit2(payment, chainId) }, BigInt(amountBaseUnits));
}

/**
 * The signature in the form that was simulated: some wallets wrap what Permit2 accepts (EIP-6492), some accounts write
 * the bare recovery bit.
 */
function toPermit2(payment: SignedPermit, chainId: number): Hex {
  const { signature, permit2Authorization } = payment;
  const wrapped = unwrapSignature(signature);
  if (wrapped !== null) return wrapped.bytes;
  const last = signature.length === 2 + 2 * 65 ? Number.parseInt(signature.slice(-2), 16) : 27;
  if (last >= 2) return signature;
  // A contract's signature may end like this too, and its bytes are the contract's own.
  const hash = hashPermit2Transfer(payment, hashPermit2Domain(chainId));
  const signer = { hash, payer: permit2Authorization.from, factories: NO_FACTORIES };
  if (readPayerSignature(signature, signer).kind === 'contract') return signature;
  return `0x${signature.slice(2, -2)}${(last + 27).toString(16)}`;
}

/**
 * Whether the payment may share a transaction: only the token's code runs, which takes about the same gas each time. A
 * permit may not: under scheme `upto` only the relayer itself may be the sender.
 */
export function isShareable(entry: PaymentEntry): entry is AuthorizationEntry {
  return entry.kind === 'authorization' && entry.signature.kind === 'account';
}

/** In Unix seconds, as decimal text. */
export function validAfterOf(entry: PaymentEntry): string {
  return entry.kind === 'authorization'
    ? entry.authorization.validAfter
    : entry.payment.permit2Authorization.witness.validAfter;
}

/** The result for a payer that has paid this amount. */
export function settledBy({ payer }: PaymentEntry, txHash: Hex, amountBaseUnits: string): SettlementResult {
  return { outcome: 'settled', txHash, payer, amountBaseUnits };
}

/**
 * What the transaction with these logs has moved by the payment, in base units; null: nothing.
 * @param transfers those of the logs, one object for all payments of the transaction
 */
export function findPaid(
  entry: PaymentEntry,
  logs: readonly EmittedLog[],
  transfers = new AuthorizedTransfers(logs),
): string | null {
  if (entry.kind === 'permit2') return findMoved(logs, entry)?.toString() ?? null;
  return transfers.include(entry) ? entry.amountBaseUnits : null;
}

export const SETTINGS_DIFFER: SettlementResult = { outcome: 'unavailable', reason: 'settings_differ' };

/** The result for a payment that is not settled, before anything was sent for it. */
export function failed(failure: PaymentFailure): SettlementResult {
  return { outcome: 'failed', failure, txHash: null };
}
