import {
  decodeAbiParameters,
  hexToBigInt,
  isAddressEqual,
  pad,
  toEventSelector,
  toFunctionSelector,
  toHex,
  type Address,
  type Hex,
  type TransactionReceipt,
} from 'viem';

import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Step } from '../types/plan.js';
import { explainFailure, explainReturnCode } from './explain-failure.js';

/** The fields of a step that its outcome depends on. */
export type CalledStep = Pick<Step, 'to' | 'data' | 'value' | 'failures'>;

/** The fields of a receipt that the outcome depends on. */
export type MinedCall = Pick<TransactionReceipt, 'status' | 'blockNumber'> & Pick<CallTrace, 'logs'>;

/**
 * The failure of a mined transaction, or null when it succeeded: a receipt with status success is not enough.
 * @returns with `isUncertain` in its details if the transaction may have succeeded all the same.
 */
export async function readFailure(
  context: AccountReader,
  step: CalledStep,
  receipt: MinedCall,
): Promise<AgentKitError | null> {
  if (receipt.status === 'reverted') return explainMinedRevert(context, step, receipt);
  return findReportedFailure(step, receipt) ?? findMissingTransfer(step, receipt, context.account);
}

/**
 * Runs the call again on the state before its block. If another transaction of the block caused the failure, it is not
 * found.
 */
async function explainMinedRevert(
  { client, account }: AccountReader,
  step: CalledStep,
  receipt: MinedCall,
): Promise<AgentKitError> {
  const call = { account, to: step.to, data: step.data, value: step.value };
  for (const blockNumber of [receipt.blockNumber, receipt.blockNumber - 1n]) {
    const failure = await client.call({ ...call, blockNumber }).then(
      () => null,
      (error: unknown) => explainFailure(error, step.failures),
    );
    if (failure && failure.code !== 'NETWORK_ERROR') return failure;
  }
  return new AgentKitError('REVERTED', 'The transaction was mined and reverted; its reason is no longer available.');
}

const TRANSFER_CALL = toFunctionSelector('transfer(address,uint256)');
const TRANSFER_EVENT = toEventSelector('Transfer(address,address,uint256)');

/** A mined call's return value is unknown, and a token that returned `false` has not emitted the event of a transfer. */
function findMissingTransfer(
  { to, data, failures }: CalledStep,
  { logs }: MinedCall,
  account: Address,
): AgentKitError | null {
  if (!failures?.isFalseRefusal || !data.startsWith(TRANSFER_CALL)) return null;
  const from = pad(account).toLowerCase();
  const isShown = logs.some(
    ({ address, topics }) =>
      isAddressEqual(address, to) && topics[0] === TRANSFER_EVENT && topics[1]?.toLowerCase() === from,
  );
  if (isShown) return null;
  return new AgentKitError(
    'PROTOCOL_FAILED',
    'The transaction was mined, but the token reported no transfer: it probably refused by returning false.',
    { details: { isUncertain: true }, suggestion: 'Compare the balances before you send it again.' },
  );
}

const FALSE = toHex(0n, { size: 32 });
const FAILURE_TOPIC = toEventSelector('Failure(uint256,uint256,uint256)');

interface CallTrace {
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
  // The tokens of Compound v2's markets return false with the event that their other calls emit with a number.
  const isRefused =
    data === FALSE || logs.some((log) => isAddressEqual(log.address, to) && (decodeFailure(log)?.error ?? 0n) > 0n);
  if (failures?.isFalseRefusal && isRefused) {
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
