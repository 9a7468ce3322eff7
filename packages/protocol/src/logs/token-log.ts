import type { Hex } from '../wire/hex.js';

/** A log of a contract, from whichever source. All hexadecimal text is in lower case. */
export interface EmittedLog {
  address: Hex;
  topics: readonly Hex[];
  data: Hex;
}

/** keccak256 of `Transfer(address,address,uint256)` (ERC-20). */
export const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** keccak256 of `AuthorizationUsed(address,bytes32)` (EIP-3009). */
export const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
/** keccak256 of `AuthorizationCanceled(address,bytes32)` (EIP-3009). */
export const AUTHORIZATION_CANCELED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';

const ADDRESS_PADDING = `0x${'0'.repeat(24)}`;

export interface TransferLog {
  from: Hex;
  to: Hex;
  amountBaseUnits: bigint;
}

export interface AuthorizationUsedLog {
  authorizer: Hex;
  nonce: Hex;
}

/**
 * Parses an ERC-20 `Transfer`; null for every other log, including ERC-721 transfers, whose third parameter is indexed.
 */
export function readTransferLog({ topics: [event, from, to, ...more], data }: EmittedLog): TransferLog | null {
  if (event !== TRANSFER || !from || !to || more.length > 0 || data.length !== 66) return null;
  if (!from.startsWith(ADDRESS_PADDING) || !to.startsWith(ADDRESS_PADDING)) return null;
  return { from: `0x${from.slice(26)}`, to: `0x${to.slice(26)}`, amountBaseUnits: BigInt(data) };
}

/** A transfer with the place of its log among those of its transaction. */
export interface PlacedTransfer extends TransferLog {
  /** Not the log's own index, which counts in its block: a transaction that moves to another block keeps its places. */
  position: number;
}

/** The transfers of an asset among all logs of a transaction, in their order. */
export function listTransfers(logs: readonly EmittedLog[], asset: string): PlacedTransfer[] {
  return logs.flatMap((log, position) => {
    const transfer = log.address === asset ? readTransferLog(log) : null;
    return transfer === null ? [] : [{ ...transfer, position }];
  });
}

/** Parses an EIP-3009 `AuthorizationUsed`; null for every other log. */
export function readAuthorizationUsedLog({
  topics: [event, authorizer, nonce],
}: EmittedLog): AuthorizationUsedLog | null {
  if (event !== AUTHORIZATION_USED || !authorizer?.startsWith(ADDRESS_PADDING) || !nonce) return null;
  return { authorizer: `0x${authorizer.slice(26)}`, nonce };
}
