import type { SentPayment } from '@tollgate/chain';
import type { PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import type { PaymentSimulation } from '@tollgate/transport';

import type { SettlingRules, PaymentToJudge } from '../methods/verification-method.js';
import type { Deployments } from './deployments.js';
import type { WalletCheck } from './wallet-check.js';

export interface SignedPaymentRules extends SettlingRules {
  confirmations: number;
  deployments: Deployments;
  /** From the payment's block to its proof, for a payment that was already settled when it was shown. */
  redemptionWindowMs: number;
  /** How long the ledger remembers payments, and so how far back the chain is searched. */
  memoryMs: number;
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
export interface Judged extends PaymentToJudge {
  nowMs: number;
  /** How long it must stay valid where its money has not moved. */
  validForMs: number;
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
