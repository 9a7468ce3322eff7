import {
  AUTHORIZATION_CANCELED,
  AUTHORIZATION_USED,
  AuthorizedTransfers,
  type Hex,
  type PromisedTransfer,
} from '@tollgate/protocol';

import { encodeAddress } from '../contracts/abi-encoding.js';
import type { LogSearch } from '../logs/search-logs.js';
import type { ChainReader } from '../reader/chain-reader.js';
import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { SearchAsker } from './search-asker.js';
import { notShown, type SentPayment, UNSENT, wasSent } from './sent-payment.js';

/** What became of an authorization whose nonce is taken, whichever sender took it. */
export type AuthorizationUse =
  /** The promised transfer was made. `input` is the transaction's calldata. */
  | { outcome: 'settled'; txHash: Hex; blockNumber: number; minedAtMs: number; input: Hex }
  | { outcome: 'cancelled'; txHash: Hex }
  /** The nonce was used for other terms, or so long ago that the search does not reach it. */
  | { outcome: 'used'; txHash: Hex | null };

export interface AuthorizationLookUp {
  promised: PromisedTransfer;
  /** Default: no relayer has sent it. */
  sent?: SentPayment;
  /** The client to charge for a search, unless a relayer has sent the authorization. */
  asker?: SearchAsker;
  /** Blocks before this time are not searched. */
  sinceMs: number;
  deadlineMs: number;
}

/**
 * Finds the transaction that took an authorization's nonce: ours, or one that a third party sent with a copy of the
 * signature.
 * @param headBlockNumber the head at which the nonce was seen to be taken
 * @throws ChainUnavailableError
 */
export async function findAuthorizationUse(
  chain: Pick<ChainReader, 'searchPast' | 'foundNothingTwice' | 'readTransaction' | 'readBlockTime'>,
  { promised, sent = UNSENT, asker, sinceMs, deadlineMs }: AuthorizationLookUp,
  headBlockNumber: number,
): Promise<AuthorizationUse> {
  const { asset, authorization } = promised;
  const payer: Hex = `0x${encodeAddress(authorization.from)}`;
  const search: LogSearch = {
    address: asset,
    topics: [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], [payer], [authorization.nonce]],
    headBlockNumber,
    sinceMs,
    deadlineMs,
  };
  const isCharged = !wasSent(sent);
  if (isCharged) asker?.assertLeft();
  const [log] = await chain.searchPast(search);
  if (log === undefined) {
    if (isCharged) asker?.foundNothing();
    // The nonce went into the relayer's transaction or before it, so its log is recent.
    if (sent.job === 'open' && sent.txHashes.length > 0) throw notShown();
    // A token takes this authorization only after that time, so the server lags behind if it was taken. A cancellation, or
    // an earlier authorization with its nonce, may lie before the searched range: the second search decides, unless a
    // relayer may have sent this one.
    const isSure = sent.job === 'over' && chain.foundNothingTwice(search);
    if (Number(authorization.validAfter) * 1000 >= sinceMs && !isSure) {
      const message = 'The RPC server says that the nonce is used, and returned no log of it.';
      throw new ChainUnavailableError('rpc_inconsistent', message);
    }
    return { outcome: 'used', txHash: null };
  }
  const { txHash } = log;
  if (log.topics[0] === AUTHORIZATION_CANCELED) return { outcome: 'cancelled', txHash };

  const { mined } = await chain.readTransaction(txHash, deadlineMs);
  if (mined === null) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server returned the logs but not their transaction.');
  }
  if (!new AuthorizedTransfers(mined.receipt.logs).include(promised)) return { outcome: 'used', txHash };
  const { receipt, input } = mined;
  const minedAtMs = await chain.readBlockTime(receipt, deadlineMs);
  return { outcome: 'settled', txHash, blockNumber: receipt.blockNumber, minedAtMs, input };
}
