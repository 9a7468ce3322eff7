import { isHash, type Hex } from '@tollgate/protocol';

import { parseBlock } from '../receipts/receipt.js';
import { hasContractFailed, MISSING, valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-endpoint.js';
import { malformed, toQuantity } from '../rpc/rpc-value.js';

/** The block in which a call is simulated, as the parameters that follow the call; the last one gives it another time. */
export type CallPlace = readonly ['latest'] | readonly ['pending'] | readonly ['latest', object, { time: Hex }];

export const LATEST: CallPlace = ['latest'];
const PENDING: CallPlace = ['pending'];

/** A payment is valid only in blocks after this time (in Unix seconds, as decimal text), which lies in the past. */
export interface ValidityStart {
  validAfter: string;
  nowMs: number;
}

/**
 * `sendableAt`: the newest block, or the next one as the server has it, where it is past the start of validity; null while
 * a transaction that is sent might be mined too early. `unknown`: the server can show no block past that start.
 */
export type LaterTrial =
  | { outcome: 'succeeds'; place: CallPlace; sendableAt: CallPlace | null }
  | { outcome: 'fails' | 'unknown' };

/**
 * Creation code that ends with the block's time as the created code. It tells whether a server has used the time that it
 * was given: some refuse that parameter, some ignore it, and to some the pending block is the newest one.
 */
const READ_TIME: Hex = '0x4260005260206000f3';

/**
 * Simulates a call that has failed in the newest block, and may have failed because that block is older than the start of
 * the payment's validity. A pending block holds transactions that may never be mined, so a failure there proves nothing.
 */
export function askLater(
  { method, params: [transaction] }: RpcCall,
  { validAfter, nowMs }: ValidityStart,
): { calls: RpcCall[]; read(results: readonly RpcResult[]): LaterTrial } {
  const start = BigInt(validAfter);
  const now = BigInt(Math.floor(nowMs / 1000));
  const timed: CallPlace = ['latest', {}, { time: toQuantity(now > start ? now : start + 1n) }];
  const tryAt = (place: CallPlace): RpcCall[] => [
    { method: 'eth_call', params: [{ data: READ_TIME }, ...place] },
    { method, params: [transaction, ...place] },
  ];
  return {
    // The block goes first: a node answers the calls in turn, so the call does not run in an older one.
    calls: [
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method, params: [transaction, ...LATEST] },
      ...tryAt(timed),
      ...tryAt(PENDING),
    ],
    read: ([block, atLatest = MISSING, time, atTime = MISSING, pendingTime, atPending]) => {
      if (!hasContractFailed(atLatest)) {
        // Throws for a failure of the server, such as a block that it has no state of yet: that is not the call's.
        valueOf(atLatest, method);
        return { outcome: 'succeeds', place: LATEST, sendableAt: LATEST };
      }
      const newest = parseBlock(valueOf(block, 'eth_getBlockByNumber')) ?? malformed('no newest block');
      if (start > now || BigInt(newest.timeMs) > start * 1000n) return { outcome: 'fails' };
      const sendableAt = isPast(start, pendingTime) && succeeds(atPending) ? PENDING : null;
      if (isPast(start, time)) {
        if (succeeds(atTime)) return { outcome: 'succeeds', place: timed, sendableAt };
        if (hasContractFailed(atTime)) return { outcome: 'fails' };
      }
      return sendableAt === null ? { outcome: 'unknown' } : { outcome: 'succeeds', place: sendableAt, sendableAt };
    },
  };
}

function succeeds(result: RpcResult | undefined): boolean {
  return result?.kind === 'result';
}

function isPast(start: bigint, time: RpcResult | undefined): boolean {
  return time?.kind === 'result' && isHash(time.value) && BigInt(time.value) > start;
}
