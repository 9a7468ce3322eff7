import type { Hex } from '@tollgate/protocol';

import { encodeAddress, encodeBytes, encodeNumber, WORD_BYTES } from '../abi-encoding.js';
import type { ContractCall } from '../contract-question.js';

/** `aggregate3((address,bool,bytes)[])`: the results carry what each call returned. */
const AGGREGATE3 = '0x82ad56cb';
/** Each call's tuple begins with target, flag and the offset of its data, whose length comes next. */
const TUPLE_WORDS = 3;

/** Bundles several calls into one Multicall3 call. A call with `mayFail` does not revert the others when it fails. */
export function bundleCalls(multicall3: Hex, calls: readonly (ContractCall & { mayFail: boolean })[]): ContractCall {
  const tuples = calls.map(({ to, data, mayFail }) => {
    const head = [encodeAddress(to), encodeNumber(mayFail ? 1 : 0), encodeNumber(TUPLE_WORDS * WORD_BYTES)];
    return [...head, encodeBytes(data)].join('');
  });
  let offset = calls.length * WORD_BYTES;
  const offsets = tuples.map((tuple) => {
    const own = encodeNumber(offset);
    offset += tuple.length / 2;
    return own;
  });
  const words = [encodeNumber(WORD_BYTES), encodeNumber(calls.length), ...offsets, ...tuples];
  return { to: multicall3, data: `${AGGREGATE3}${words.join('')}` };
}

/** Whether each of the bundled calls succeeded; null when the data is not an answer of `aggregate3`. */
export function readBundle(data: Hex, count: number): boolean[] | null {
  const digits = data.slice(2);
  const word = (at: number): number => Number.parseInt(digits.slice(2 * at, 2 * (at + WORD_BYTES)), 16);
  if (word(0) !== WORD_BYTES || word(WORD_BYTES) !== count) return null;
  const first = 2 * WORD_BYTES;
  return Array.from({ length: count }, (_, index) => word(first + word(first + index * WORD_BYTES)) === 1);
}
