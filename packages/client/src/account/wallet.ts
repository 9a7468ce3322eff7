import type { Hex } from '@tollgate/protocol';

import type { SignedTransaction } from '../store/payment-store.js';
import type { NonceUse } from './find-nonce-use.js';
import type { AuthorizationSigner, PermitSigner } from './typed-data-signers.js';

/** Signing, sending and waiting are separate, so that the signed bytes can be stored before they are sent. */
export interface Wallet {
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
  /** Without it, offers that require a signed EIP-3009 authorization are not paid. */
  readonly authorizations?: AuthorizationSigner;
  /** Without it, offers by Permit2, including those that charge by use, are not paid. */
  readonly permits?: PermitSigner;
}
