import type { Hex } from '@tollgate/protocol';
import type { TransactionReceipt } from 'viem';

import type { SignedTransaction } from '../store/payment-store.js';
import type { PollLimits } from './read-at-block.js';
import type { Wallet } from './wallet.js';

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
