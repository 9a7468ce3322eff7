import type { Lease } from '@tollgate/ledger';
import type { Hex, PaymentFailure, SignedPayment } from '@tollgate/protocol';
import type { SignedPaymentVerdict, VerifyPaymentVerdict } from '@tollgate/transport';

import type { BatchPayer } from '../../../../test/harness/chain/deploy.js';
import type { Devnet, DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import type { AskedSigned, useSignedPaymentVerifier } from '../use-signed-payment-verifier.js';

/** Chain, ledger and verifiers, on which the rows of a method run. */
export type Verifiers = ReturnType<typeof useSignedPaymentVerifier>;
export type Verdict = VerifyPaymentVerdict | SignedPaymentVerdict;

/** What a payment says. By default: the price, to the seller, by the first account, valid for minutes. */
export interface PaymentTerms<Payment> {
  signer: DevnetAccount;
  /** Whose money it is, by default the signer's; else a contract wallet that the signer signs for. */
  from: Hex;
  to: Hex;
  token: Hex;
  chainId: number;
  amount: bigint;
  /** Unix seconds, as `validBefore` is. */
  validAfter: bigint;
  validBefore: bigint;
  /** An earlier payment whose nonce this one has as well. */
  nonceOf: Payment;
}

/** The faults that a method answers with its own failure. */
export type TermsRow =
  | 'one unit less than the price'
  | 'one unit more than the price'
  | 'more than the payer has'
  | 'another token'
  | 'another chain'
  | 'another recipient'
  | 'a start in the future'
  | 'a start beyond all time'
  | 'an expiry two days ago'
  | 'an expiry in the past'
  | 'an expiry too soon to settle it'
  | "a signature of another account's key";

/** The failure of a row, or that it is no fault here, or in words why the method has no such row. */
export type RowCode = PaymentFailure | 'claimed' | { lacks: string };

/** How a payment of one method is made and shown, and what the specification says about it. */
export interface PaymentMethod<Payment> {
  name: string;
  codes: Record<TermsRow, RowCode>;
  /** Once per chain: what the first account, and its contract wallet, have to do before they can pay. */
  prepare?: (wallet?: BatchPayer) => Promise<unknown>;
  pay: (terms?: Partial<PaymentTerms<Payment>>) => Promise<Payment>;
  /** Has its money moved, as a third party could; returns the transaction. */
  settle: (payment: Payment, amount?: bigint) => Promise<Hex>;
  /** What a claimed payment is answered with, without lease and outcome. */
  claimed: (payment: Payment) => object;
  idOf: (payment: Payment) => object;
  /** The part of its name by which records of refusals are found. */
  nameOf: (payment: Payment) => string;
  /** Bytes that the RPC server returns at most at once where a payer's contract fails by a megabyte. */
  longestRefusal: number;
  /** Requests to the RPC server until a contract that fails is refused. */
  refusalRequests: number;
}

/** A method whose payment is a mined transaction: by its hash it is asked about. */
export interface SentMethod<Payment> extends PaymentMethod<Payment> {
  ask: (payment: Payment, asked?: AskedSigned) => Promise<Verdict>;
}

/** A method whose payer signs first, and whose payment anyone, or a relayer, sends. */
export interface SignedMethod<Payment extends SignedPayment = SignedPayment> extends PaymentMethod<Payment> {
  /** The transaction that moves the signed amount, or this one. */
  call: (payment: Payment, amount?: bigint) => { from?: Hex; to: Hex; data: Hex };
  /** Why no third party can send it, in words. */
  onlyBy?: string;
  /** What a settlement moves of the price where it may be less. */
  moves: bigint;
  /** What an account has to do before it gets the code of a contract wallet and pays. */
  prepareWallet?: (wallet: Hex) => Promise<unknown>;
  /** Invalidates the nonce, as only its payer can. */
  cancel: (payment: Payment) => Promise<unknown>;
  cancelled: PaymentFailure;
  /** The failure of a settlement for which its payer has too little by then. */
  tooPoor: PaymentFailure;
  /** Terms under which another payment with the same nonce is not this one. */
  twins: readonly [what: string, terms: () => Partial<PaymentTerms<Payment>>][];
  /** What the hash of its transaction is. */
  byHash: 'the same payment' | 'belongs_to_permit';
  /** The questions by which its relayer's transaction is found to have moved it. */
  foundBy: readonly ('eth_getTransactionReceipt' | 'eth_getLogs')[];
  /** Whether payments of several payers share a transaction. */
  isBatched: boolean;
  /** The record for a refund of money that a relayer may have sent and no server shows. */
  unfound: { detail: string; amountBaseUnits?: string };
}

/** An account of the devnet. */
export function accountOf({ accounts }: Devnet, index: number): DevnetAccount {
  const account = accounts[index];
  if (account === undefined) throw new Error(`the devnet has ${accounts.length} accounts`);
  return account;
}

/** The lease of a claimed payment. */
export function leaseOf(verdict: Verdict): Lease {
  if (verdict.outcome !== 'claimed') throw new Error(JSON.stringify(verdict));
  return verdict.lease;
}
