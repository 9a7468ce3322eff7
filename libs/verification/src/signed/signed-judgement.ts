import type { SentPayment } from '@tollgate/chain';
import type { PaymentId } from '@tollgate/ledger';
import type { Hex, SignedPayment } from '@tollgate/protocol';
import type { PaymentSimulation, SignedPaymentTerms } from '@tollgate/transport';

import type { LookUps } from '../limits/client-shares.js';
import type { Deployments } from './deployments.js';
import type { WalletCheck } from './wallet-check.js';

export interface SignedPaymentRules {
  confirmations: number;
  /** From the payment's block to its proof, for a payment that was already settled when it was shown. */
  redemptionWindowMs: number;
  /** How long the ledger remembers payments, and so how far back the chain is searched. */
  memoryMs: number;
  /** Gas that settling one payment may take, where no wallet is deployed. */
  settleGasCap: number;
  /** For which payments a payer's wallet may be deployed (EIP-6492). */
  deployments: Deployments;
  /** Calls the factories. */
  multicall3: Hex;
  /** The further checks for payers with code. */
  wallets: Pick<WalletCheck, 'assertAccepted'>;
  strikes: {
    /** Those of the payers for whom nothing is sent for now. @throws what Redis throws */
    findBarred(payers: readonly Hex[]): Promise<ReadonlySet<Hex>>;
  };
}

/** With what is known of the payment that is judged. */
export interface JudgingRules extends SignedPaymentRules {
  /** The transactions in which a relayer has sent it. */
  readSent: () => Promise<SentPayment>;
  /** The accounts that settle here, in lower case. */
  readRelayers: () => Promise<ReadonlySet<Hex>>;
}

/** The transaction that settled a signed payment. */
export interface SettlingTransaction {
  txHash: Hex;
  blockNumber: number;
  minedAtMs: number;
}

export interface PromisedPayment {
  id: PaymentId;
  payer: Hex;
  amountBaseUnits: bigint;
}

/** A signed payment to judge. */
export interface Judged<Payment extends SignedPayment = SignedPayment> {
  terms: SignedPaymentTerms;
  payment: Payment;
  /** The token's EIP-712 domain separator, under which the payers of some methods sign. */
  domainSeparator: Hex;
  nowMs: number;
  /** How long it must stay valid where its money has not moved. */
  validForMs: number;
  deadlineMs: number;
  lookUps: LookUps;
}

/** A signed payment that may be claimed if the ledger agrees. */
export interface SignedJudgement extends PromisedPayment {
  /** Null when the payment has not been sent yet. */
  settlement: SettlingTransaction | null;
  headBlockNumber: number;
  /** The payer's balance, for a payment that counts against it and has not been sent. */
  balanceBaseUnits?: bigint;
  /** Omitted when settling the payment requires a new simulation in any case. */
  simulation?: PaymentSimulation;
}
