import type { ChainReader, ContractCall, Deployment } from '@tollgate/chain';
import type { JsonValue } from '@tollgate/journal';
import type { Hex, PaymentFailure, SignedPayment } from '@tollgate/protocol';
import type { SettlementResult } from '@tollgate/transport';
import type { AcceptedAssets, Deployments } from '@tollgate/verification';

import type { PaymentEntry, SendablePayment, SettleQuestion } from '../payment-entry.js';

/** Where the payment is settled. `isDeployed`: the payer's contract exists. */
export interface SettlementPlaces {
  chainId: number;
  multicall3: Hex;
  isDeployed: boolean;
}

/** How the payments of one method are settled. */
export interface SettlementMethod<
  Payment extends SignedPayment = SignedPayment,
  Sent extends SendablePayment = SendablePayment,
> {
  readonly kind: Payment['kind'];
  /** The account that sends it may be another process's, which simulates it then, and knows why it fails. */
  readonly isSimulatedBySender: boolean;
  /** The contract reverts where the payment has moved nothing; false: the logs have to be read. */
  readonly isProvenBySuccess: boolean;
  /** Of its jobs in the journal. Those of one method hold no payments of another. */
  readonly operation: string;

  /** Why the payment cannot be the one asked for; the asker has verified it, and no gas may be spent on another. */
  findMismatch(payment: Payment, terms: SettleQuestion['terms'], amountBaseUnits: bigint): PaymentFailure | null;
  /** All that was signed. Two payments with one nonce are two settlements where their contract takes one of them. */
  describe(payment: Payment, paid: Pick<PaymentEntry, 'asset' | 'payTo' | 'amountBaseUnits'>): readonly string[];
  /**
   * The payment in the form in which it is sent, or the result when it cannot be. `isAccount`: takes a signature of an
   * account's form as one without recovering its signer, the most expensive step here. Whether the payer has code, which
   * then decides on the signature, is checked before the payment shares a transaction.
   */
  readPayment(
    question: SettleQuestion & { payment: Payment },
    parts: { assets: AcceptedAssets; deployments: Deployments },
    signer: { isAccount: boolean },
  ): Sent | SettlementResult;
  /** Whether it may share a transaction: only the token's code runs, which takes about the same gas each time. */
  isShareable(payment: Sent): boolean;
  /** The call that deploys the payer if it has no code yet; null: it has code, or needs none. */
  deploymentOf(payment: Sent): Deployment | null;
  /** The call that settles the payment alone. */
  planCall(entry: PaymentEntry<Sent>, places: SettlementPlaces): ContractCall;
  /** Why a payment whose nonce is free, and which has not expired, was not moved; null: the chain shows no reason. */
  explainFree(
    chain: ChainReader,
    entry: PaymentEntry<Sent>,
    now: { seconds: bigint; deadlineMs: number },
  ): Promise<PaymentFailure | null>;
  /** The input of a relayer's job: enough for any process to continue it. Several payments go into `entries`. */
  encodeJob(entries: readonly PaymentEntry<Sent>[]): JsonValue;
  /** @throws MalformedMessageError when the input is not from `encodeJob` */
  parseJob(input: JsonValue): PaymentEntry<Sent>[];
}
