import type {
  Hex,
  JsonRecord,
  PaymentError,
  PaymentErrorCode,
  RequirementTerms,
  SignedMethods,
  SignedPayment,
} from '@tollgate/protocol';
import type { PublicClient } from 'viem';

import type { WalletReads, WalletSigners } from '../account/signers.js';
import type { Wallet } from '../account/wallet.js';

/** A requirement of x402 that is paid by a signature: the payer sends no transaction. */
export interface SignedRequirement {
  x402Version: 1 | 2;
  /** The network's name in version 1, its CAIP-2 id in version 2. */
  network: string;
  /** Decimal integer in base units of the asset. */
  maxAmountRequired: string;
  payTo: Hex;
  maxTimeoutSeconds: number;
  asset: Hex;
  /** Version 2: `accepted`, `resource` and `extensions`, which are sent back. */
  sent: JsonRecord;
}

/** An offer within the payer's limits. */
export interface Chosen<Requirement extends SignedRequirement> {
  requirement: Requirement;
  asset: { decimals: number };
  amountBaseUnits: bigint;
}

/** What of an offer says how it is signed. */
export interface OfferedSignature extends Pick<RequirementTerms, 'scheme' | 'assetName' | 'assetVersion'> {
  extra: JsonRecord;
}

/** What of its own a payer has to pay with. */
export interface PayingContext {
  wallet: Wallet;
  deadlineMs: number;
}

/** The same before an offer is chosen, when the wallet signs and sends nothing. */
export interface ReadingContext {
  wallet: WalletReads;
}

/**
 * How this client pays by one method. `Requirement`: what a server offers that takes it; `Options`: what of the client's
 * options is for this method alone.
 */
export interface PayingMethod<
  Kind extends keyof SignedMethods,
  Requirement extends SignedRequirement,
  Options extends object = object,
> {
  readonly kind: Kind;
  /** The part of a wallet that signs it. */
  readonly signer: keyof WalletSigners;
  /** The offers that it pays, in a sentence. */
  readonly pays: string;
  /** For a contract that moves the token: the option that gives it an allowance, and the failure without one. */
  readonly allowance?: { readonly option: keyof Options & string; readonly failure: PaymentErrorCode };
  /** The requirement; or why a signature cannot pay it, as the end of a sentence. */
  read(terms: SignedRequirement, offered: OfferedSignature): Requirement | string;
  /**
   * Why the wallet cannot pay an offer, as far as that is known before it signs; null if it can.
   * @throws PaymentError `wallet_unavailable` when the chain cannot be read
   */
  findProblem?(context: ReadingContext & Options, chosen: Chosen<Requirement>): Promise<PaymentError | null>;
  /** Sends what must be mined before the payment is signed. @throws any error of the sending */
  prepare?(context: PayingContext & Options, chosen: Chosen<Requirement>, signal: AbortSignal | null): Promise<void>;
  /** @throws PaymentError `cannot_pay` for a wallet without the signer */
  sign(wallet: WalletSigners, payment: SignedMethods[Kind]['toSign']): Promise<SignedPayment>;
  /** Whether it can never move tokens, as a final block shows; undefined for a wallet without the signer. */
  isExpired(wallet: WalletSigners, asset: Hex, payment: SignedMethods[Kind]['terms']): Promise<boolean> | undefined;
  /** Whether a block shows that it has moved tokens, or that its payer cancelled it. @throws what the client throws */
  isUsed(client: PublicClient, payment: SignedMethods[Kind]['toSign'], blockNumber: bigint): Promise<boolean>;
}
