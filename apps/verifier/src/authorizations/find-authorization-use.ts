import type { Hex } from '@tollgate/protocol';

import { encodeAddress } from '../chain/abi-encoding.js';
import type { ChainReader } from '../chain/chain-reader.js';
import { ChainUnavailableError } from '../chain/chain-unavailable-error.js';
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED } from '../verification/token-log.js';
import { hasSettlement, type PromisedTransfer } from './has-settlement.js';

/** What became of an authorization whose nonce is taken, whoever took it. */
export type AuthorizationUse =
  /** The promised transfer was made. */
  | { outcome: 'settled'; txHash: Hex; blockNumber: number; minedAtMs: number }
  | { outcome: 'cancelled'; txHash: Hex }
  /** For other terms; or so long ago that it is not looked for. */
  | { outcome: 'used'; txHash: Hex | null };

export interface AuthorizationLookUp {
  promised: PromisedTransfer;
  /** Blocks before this time are not looked through. */
  sinceMs: number;
  deadlineMs: number;
}

/**
 * Finds the transaction that took an authorization's nonce: ours, or that of a stranger who found the signature somewhere
 * and sent it himself.
 * @param headBlockNumber of the moment when the nonce was seen to be taken
 * @throws ChainUnavailableError
 */
export async function findAuthorizationUse(
  chain: Pick<ChainReader, 'searchPast' | 'readTransaction' | 'readBlockTime'>,
  { promised, sinceMs, deadlineMs }: AuthorizationLookUp,
  headBlockNumber: number,
): Promise<AuthorizationUse> {
  const { asset, authorization } = promised;
  const payer: Hex = `0x${encodeAddress(authorization.from)}`;
  const [log] = await chain.searchPast({
    address: asset,
    topics: [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], [payer], [authorization.nonce]],
    headBlockNumber,
    sinceMs,
    deadlineMs,
  });
  if (log === undefined) return { outcome: 'used', txHash: null };
  const { txHash } = log;
  if (log.topics[0] === AUTHORIZATION_CANCELED) return { outcome: 'cancelled', txHash };

  const { mined } = await chain.readTransaction(txHash, deadlineMs);
  if (mined === null) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server has the logs but not their transaction.');
  }
  if (!hasSettlement(mined.receipt.logs, promised)) return { outcome: 'used', txHash };
  const minedAtMs = await chain.readBlockTime(mined.receipt, deadlineMs);
  return { outcome: 'settled', txHash, blockNumber: mined.receipt.blockNumber, minedAtMs };
}
