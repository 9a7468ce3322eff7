import type { ChainReader, PayerSignature, UnsettledView, TriedCall, WalletFactories } from '@tollgate/chain';
import type { Hex, PaymentFailure, SignedPayment } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

import type { LookUps } from '../limits/client-shares.js';

/** A payment to look at. */
export interface PaymentToJudge<Payment extends SignedPayment = SignedPayment> {
  terms: SignedPaymentTerms;
  payment: Payment;
  /** The token's EIP-712 domain separator, under which the payers of some methods sign. */
  domainSeparator: Hex;
  deadlineMs: number;
  lookUps: LookUps;
}

/** What a settlement may take. */
export interface SettlingRules {
  /** Gas that settling one payment may take, where no wallet is deployed. */
  settleGasCap: number;
  /** For which payments a payer's wallet may be deployed (EIP-6492). */
  deployments: { readonly gasCap: number; factoriesFor(terms: SignedPaymentTerms): WalletFactories };
  /** Calls the factories. */
  multicall3: Hex;
}

/** A payment as the chain shows it, and whose signature it has. */
export interface Looked<View extends UnsettledView = UnsettledView> {
  signature: PayerSignature;
  view: View;
  /** The very call that settles it. */
  settlement: TriedCall;
  /** The contract that deploys the payer first; null where none does. */
  factory: Hex | null;
}

interface Approval<View extends UnsettledView> {
  /** Without it. */
  readonly failure: PaymentFailure;
  covers(view: View, terms: SignedPaymentTerms): boolean;
}

/** The rules of one method for its payments, beside those that are the same for all. */
export interface VerificationMethod<
  Payment extends SignedPayment = SignedPayment,
  View extends UnsettledView = UnsettledView,
> {
  readonly kind: Payment['kind'];
  /** The payer signs under the token's EIP-712 domain, so that the configured one has to be the token's own. */
  readonly isOfTokenDomain: boolean;
  /** Payments that have not been sent count against their payer's balance, and pass their simulation on. */
  readonly isCounted: boolean;
  /** What was signed must be what is asked for: asset, contract, recipient, amount. @throws PaymentRefused */
  assertTerms(payment: Payment, terms: SignedPaymentTerms): void;
  /**
   * Reads the state of the payment, in one round trip where an account has signed.
   * @throws PaymentRefused also where the chain lacks a contract, ChainUnavailableError, NotJudged
   */
  look(shown: PaymentToJudge<Payment>, rules: SettlingRules, chain: ChainReader): Promise<Looked<View>>;
  /** What the payer must have approved beside its signature; null: nothing. */
  readonly approval: Approval<View> | null;
}
