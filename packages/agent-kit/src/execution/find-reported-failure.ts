import { decodeAbiParameters, hexToBigInt, isAddressEqual, toEventSelector, toHex, type Address, type Hex } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import type { Step } from '../plan/plan.js';
import { explainReturnCode } from './explain-failure.js';

const FALSE = toHex(0n, { size: 32 });
const FAILURE_TOPIC = toEventSelector('Failure(uint256,uint256,uint256)');

export interface CallTrace {
  /** What the call returned; unknown for a mined transaction. */
  data?: Hex;
  logs: readonly { address: Address; data: Hex; topics: readonly Hex[] }[];
}

/**
 * The failure of a call that did not revert, for contracts that report failures as numbers or as `false`; null when it
 * succeeded. Compound v2 mines a refused borrow as a success, with nothing but a `Failure` event.
 */
export function findReportedFailure(
  { to, failures }: Pick<Step, 'to' | 'failures'>,
  { data, logs }: CallTrace,
): AgentKitError | null {
  if (failures?.isFalseRefusal && data === FALSE) {
    return new AgentKitError('REVERTED', 'The token refused: its call returned false, which stands for a revert.');
  }
  if (!failures?.returnCodes) return null;
  for (const log of logs) {
    // Only an event of the called contract counts: a hostile token in the same transaction may emit anything.
    const event = isAddressEqual(log.address, to) ? decodeFailure(log) : null;
    const failure = event && explainReturnCode(event.error, failures, event.detail);
    if (failure) return failure;
  }
  return data?.length === 66 ? explainReturnCode(hexToBigInt(data), failures) : null;
}

function decodeFailure({ data, topics }: CallTrace['logs'][number]): { error: bigint; detail: bigint } | null {
  // Three words after `0x`.
  if (topics[0] !== FAILURE_TOPIC || data.length !== 2 + 3 * 64) return null;
  const [error, , detail] = decodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }], data);
  return { error, detail };
}
