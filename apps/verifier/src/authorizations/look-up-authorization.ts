import type { Hex } from '@tollgate/protocol';

import { parseBlock } from '../chain/block.js';
import type { ChainReader } from '../chain/chain-reader.js';
import { ChainUnavailableError } from '../chain/chain-unavailable-error.js';
import type { RpcBatcher } from '../chain/rpc-batcher.js';
import { valueOf, type RpcResult } from '../chain/rpc-endpoint.js';
import { malformed, parseData, parseHash, parseObject } from '../chain/rpc-value.js';
import { hasSettlement, type PromisedTransfer } from './has-settlement.js';

/** What the chain knows of an authorization's nonce, whoever used it. */
export type AuthorizationSighting =
  | { outcome: 'unused' }
  /** The promised transfer was made. */
  | { outcome: 'settled'; txHash: Hex; blockNumber: number }
  | { outcome: 'cancelled'; txHash: Hex }
  /** For other terms; or so long ago that it is not looked for. */
  | { outcome: 'used'; txHash: Hex | null };

export interface AuthorizationLookUp {
  promised: PromisedTransfer;
  /** Blocks before this time are not looked through. */
  sinceMs: number;
  deadlineMs: number;
}

/** `authorizationState(address,bytes32)` (EIP-3009) */
const AUTHORIZATION_STATE = '0xe94a0102';
/** keccak256 of `AuthorizationUsed(address,bytes32)` */
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
/** keccak256 of `AuthorizationCanceled(address,bytes32)` */
const CANCELED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';
/** What nodes search in one question. */
const BLOCKS_AT_ONCE = 2_000;
const MISSING: RpcResult = { kind: 'missing' };

/**
 * Whether an authorization's nonce is used, and if so by which transaction: ours, or that of a stranger who found the
 * signature somewhere and sent it himself.
 * @throws ChainUnavailableError
 */
export async function lookUpAuthorization(
  { batcher, reader }: { batcher: RpcBatcher; reader: ChainReader },
  lookUp: AuthorizationLookUp,
): Promise<AuthorizationSighting> {
  const { isUsed, headBlockNumber } = await readState(batcher, lookUp);
  if (!isUsed) return { outcome: 'unused' };
  for (let last = headBlockNumber; last >= 0; last -= BLOCKS_AT_ONCE) {
    const { end, isTooOld } = await searchBlocks(batcher, lookUp, last);
    if (end?.event === CANCELED) return { outcome: 'cancelled', txHash: end.txHash };
    if (end) return judgeUse(reader, lookUp, end.txHash);
    if (isTooOld) break;
  }
  return { outcome: 'used', txHash: null };
}

function readState(
  batcher: RpcBatcher,
  { promised: { asset, authorization }, deadlineMs }: AuthorizationLookUp,
): Promise<{ isUsed: boolean; headBlockNumber: number }> {
  const { from, nonce } = authorization;
  const data = `${AUTHORIZATION_STATE}${from.slice(2).padStart(64, '0')}${nonce.slice(2)}`;
  return batcher.ask({
    calls: [{ method: 'eth_call', params: [{ to: asset, data }, 'latest'] }],
    deadlineMs,
    read: ([result = MISSING], headBlockNumber) => {
      const state = parseData(valueOf(result, 'eth_call'), 'authorizationState');
      if (state.length !== 66) return malformed('an authorizationState that is no word');
      return { isUsed: BigInt(state) !== 0n, headBlockNumber };
    },
  });
}

/** The event that ended the nonce in the blocks up to the last one, and whether those before them need no look. */
function searchBlocks(
  batcher: RpcBatcher,
  { promised: { asset, authorization }, sinceMs, deadlineMs }: AuthorizationLookUp,
  last: number,
): Promise<{ end: { event: Hex; txHash: Hex } | null; isTooOld: boolean }> {
  const fromBlock = `0x${Math.max(0, last - BLOCKS_AT_ONCE + 1).toString(16)}`;
  const topics = [[USED, CANCELED], `0x${authorization.from.slice(2).padStart(64, '0')}`, authorization.nonce];
  const filter = { address: asset, topics, fromBlock, toBlock: `0x${last.toString(16)}` };
  return batcher.ask({
    calls: [
      { method: 'eth_getLogs', params: [filter] },
      { method: 'eth_getBlockByNumber', params: [fromBlock, false] },
    ],
    deadlineMs,
    read: ([logs = MISSING, block = MISSING]) => {
      const first = parseBlock(valueOf(block, 'eth_getBlockByNumber'));
      return { end: readEnd(valueOf(logs, 'eth_getLogs')), isTooOld: first !== null && first.timeMs < sinceMs };
    },
  });
}

function readEnd(logs: unknown): { event: Hex; txHash: Hex } | null {
  if (!Array.isArray(logs)) return malformed('logs that are no list');
  if (logs.length === 0) return null;
  const { topics, transactionHash } = parseObject(logs[0], 'log');
  const event: unknown = Array.isArray(topics) ? topics[0] : undefined;
  return { event: parseHash(event, 'log.topic'), txHash: parseHash(transactionHash, 'log.transactionHash') };
}

async function judgeUse(
  reader: ChainReader,
  { promised, deadlineMs }: AuthorizationLookUp,
  txHash: Hex,
): Promise<AuthorizationSighting> {
  const { mined } = await reader.readTransaction(txHash, deadlineMs);
  if (mined === null) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server has the logs but not their transaction.');
  }
  return hasSettlement(mined.receipt.logs, promised)
    ? { outcome: 'settled', txHash, blockNumber: mined.receipt.blockNumber }
    : { outcome: 'used', txHash };
}
