import type { Hex } from '@tollgate/protocol';
import type { TransactionReceipt } from 'viem';

import type { NonceUse } from './find-nonce-use.js';
import type { PollLimits } from './read-at-block.js';
import type { SignedTransaction } from './signed-transaction.js';
import type { WalletSigners } from './signers.js';

/** Signing, sending and waiting are separate, so that the signed bytes can be stored before they are sent. */
export interface Wallet extends WalletSigners {
  readonly address: Hex;
  readonly chainId: number;
  /**
   * Runs one task at a time. Everything from signing to sending belongs into one task: a second transaction signed in
   * between would get the same nonce.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Signs a call with the next nonce; sends nothing. */
  sign(call: { to: Hex; data: Hex }): Promise<SignedTransaction>;
  /**
   * Sends these bytes; also succeeds when the chain already has them.
   * @throws PaymentError `broadcast_refused` if the chain does not take them, where `refusal: 'fee_below_base'` in its
   * details says that new fees help; `wallet_unavailable` if it is not known whether it has them
   */
  broadcast(transaction: SignedTransaction): Promise<void>;
  /** The outcome of a transaction; null while it is not mined. */
  readOutcome(txHash: Hex): Promise<'success' | 'failed' | null>;
  /**
   * The mined transaction with this nonce of a payer, who may have another wallet; null while there is none.
   * @throws PaymentError `wallet_unavailable` when the chain cannot be read that far
   */
  readNonceUse(payer: Hex, nonce: number): Promise<NonceUse | null>;
}

/** A call to sign. */
export interface Call {
  to: Hex;
  data: Hex;
  /** Native coin sent along, in wei; 0 if omitted. */
  value?: bigint;
  /** An estimate of its gas, to which a margin is added; if omitted, the node estimates it. */
  gas?: bigint;
  /** If omitted, the next one. */
  nonce?: number;
}

/**
 * What became of a transaction. `replaced`: the transaction `by` was mined with its nonce, so it never will be.
 * `unknown`: it may still be mined.
 */
export type Confirmation =
  | { outcome: 'success' | 'failed'; receipt: TransactionReceipt }
  | { outcome: 'replaced'; by: Hex }
  | { outcome: 'unknown' };

/** A wallet that also sends calls and follows them: for programs that hold a key. */
export interface Account extends Wallet {
  /**
   * Signs a call, with the next nonce unless it names one. Its bytes are unique, also among processes that share the key: a hash belongs to
   * one call.
   * @throws PaymentError `cannot_pay`, for a nonce that was used before, and with `needed` and `balance` in wei in its details if the coin does not suffice;
   * `wallet_unavailable`; `wrong_chain`
   */
  sign(call: Call): Promise<SignedTransaction>;
  /**
   * Looks the receipt up, `POLLING` unless given, and sends the bytes again meanwhile. `success` stands for the receipt
   * of exactly these bytes.
   */
  confirm(signed: SignedTransaction, patience?: PollLimits): Promise<Confirmation>;
  /** Signs and sends another call with the nonce of a transaction that is not mined, for higher fees. Call it in turn. */
  replace(txHash: Hex, call: Call): Promise<SignedTransaction>;
  /** Sends the same call again for higher fees; the hash is a new one, and one of the two is mined. Call it in turn. */
  speedUp(txHash: Hex): Promise<SignedTransaction>;
  /** Uses its nonce for a transfer of nothing to the account itself. Call it in turn. */
  cancel(txHash: Hex): Promise<SignedTransaction>;
}
