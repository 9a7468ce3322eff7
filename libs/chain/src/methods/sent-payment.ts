import type { Hex } from '@tollgate/protocol';

import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';

/** What the journal knows of a relayer's job for a signed payment. */
export interface SentPayment {
  /** The transactions in which it was sent. */
  txHashes: readonly Hex[];
  /**
   * `open`: one of them is mined, or may still be. `over`: none is, or there is no job. `forgotten`: there was a job, and
   * it may have settled the payment.
   */
  job: 'open' | 'over' | 'forgotten';
}

export const UNSENT: SentPayment = { txHashes: [], job: 'over' };

/** Whether the journal shows that a relayer may have sent the payment. */
export function wasSent({ txHashes, job }: SentPayment): boolean {
  return txHashes.length > 0 || job === 'forgotten';
}

/** A relayer's transaction took the nonce, or may have, and the RPC server shows neither it nor another. */
export function notShown(): ChainUnavailableError {
  return new ChainUnavailableError('rpc_inconsistent', "The RPC server does not show the relayer's transaction.");
}
