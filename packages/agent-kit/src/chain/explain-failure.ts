import { findRefusal, isUnanswered, readDetails, readNoAnswer } from '@tollgate/client/internal';
import { PaymentError } from '@tollgate/protocol';
import {
  BaseError,
  ContractFunctionRevertedError,
  decodeErrorResult,
  InsufficientFundsError,
  isHex,
  RawContractError,
  RpcRequestError,
  type Abi,
  type Hex,
} from 'viem';

import { AgentKitError, hideKeyWords, quoteReason, type AgentKitErrorCode } from '../types/agent-kit-error.js';
import type { StepFailures } from '../types/plan.js';
import { cleanUntrusted } from '../types/untrusted-text.js';

/** One sentence for each kind of refusal by a contract, with the documented keyword. */
export const REFUSALS: Partial<Record<AgentKitErrorCode, string>> & Record<'REVERTED' | 'PROTOCOL_FAILED', string> = {
  SLIPPAGE: 'The price moved beyond the slippage tolerance',
  INSUFFICIENT_LIQUIDITY: 'There is too little liquidity',
  INSUFFICIENT_COLLATERAL: 'The collateral is too low',
  INSUFFICIENT_MARGIN: 'The margin is too low',
  LEVERAGE_TOO_HIGH: 'The leverage is too high',
  BELOW_MINIMUM: 'The amount is below the minimum amount',
  REVERTED: 'The contract reverted',
  PROTOCOL_FAILED: 'The protocol refused',
};

/** The standard reverts of Solidity; a step's own errors are added. */
const STANDARD_ERRORS = [
  { type: 'error', name: 'Error', inputs: [{ name: 'reason', type: 'string' }] },
  { type: 'error', name: 'Panic', inputs: [{ name: 'code', type: 'uint256' }] },
] as const satisfies Abi;

/** The reason for a contract's refusal, from its revert data. */
export function explainRevert(data: Hex, failures: StepFailures = {}): AgentKitError {
  const { name, text } = decodeRevert(data, failures.errors ?? []);
  const matched = Object.entries(failures.codes ?? {}).find(([key]) => name === key || text.includes(key));
  const code = matched?.[1] ?? 'REVERTED';
  const reason = text === '' ? 'it gave no reason' : quoteReason(text, code);
  return new AgentKitError(code, `${REFUSALS[code] ?? REFUSALS.REVERTED}: ${reason}.`, {
    details: { reason: cleanUntrusted(text), data: data.slice(0, 138) },
  });
}

/**
 * The meaning of an error number, for contracts that return one instead of reverting; null for 0, success.
 * @param detail the third number of its `Failure` event, if it emitted one.
 */
export function explainReturnCode(
  returned: bigint,
  { returnCodes = {} }: StepFailures,
  detail?: bigint,
): AgentKitError | null {
  if (returned === 0n) return null;
  const { name, code } = returnCodes[`${returned}:${detail}`] ??
    returnCodes[returned.toString()] ?? { name: `error ${returned}`, code: 'PROTOCOL_FAILED' as const };
  return new AgentKitError(code, `${REFUSALS[code] ?? REFUSALS.PROTOCOL_FAILED}: ${quoteReason(name, code)}.`, {
    details: { errorNumber: returned.toString(), name },
  });
}

function decodeRevert(data: Hex, errors: Abi): { name: string; text: string } {
  if (data === '0x') return { name: '', text: '' };
  try {
    const { errorName, args } = decodeErrorResult({ abi: [...STANDARD_ERRORS, ...errors], data });
    const values = (args ?? []).map(String);
    if (errorName === 'Error') return { name: errorName, text: values[0] ?? '' };
    return { name: errorName, text: `${errorName}(${values.join(', ')})` };
  } catch {
    return { name: '', text: `unknown error ${data.slice(0, 10)}` };
  }
}

/**
 * Converts any error of a chain call, or of the account, to an error of the kit, without the RPC's URL, which may contain
 * a key.
 * @param failures the meanings of the called contracts' errors.
 */
export function explainFailure(error: unknown, failures: StepFailures = {}): AgentKitError {
  if (error instanceof AgentKitError) return error;
  if (error instanceof PaymentError) return explainAccountError(error);
  if (!(error instanceof BaseError)) return refuse('PROTOCOL_FAILED', 'The operation failed', String(error));
  const revertData = findRevertData(error);
  if (revertData !== null) return explainRevert(revertData, failures);
  if (isNoAnswer(error)) return explainNoAnswer(error);
  const details = readDetails(error).slice(0, 1_000);
  if (error.walk((cause) => cause instanceof InsufficientFundsError)) return createPoor();
  const known = explainWords(details);
  if (known) return known;
  const refusal = findRefusal(error);
  // The RPC server refused the request, which has therefore ended.
  if (refusal)
    return create('The network refused the request', new URL(refusal.url).host, `answers ${quote(details)}`, 'refuses');
  // The node did answer, but the answer cannot be decoded: the contract is not of the expected kind.
  return refuse('PROTOCOL_FAILED', 'The contract does not answer as expected', details);
}

/** The failures that the words of a node tell apart; null for any other. */
function explainWords(details: string): AgentKitError | null {
  if (/out of gas|OutOfGas/i.test(details))
    return refuse('GAS_ESTIMATION_FAILED', 'The gas cannot be estimated', details);
  if (/revert|opcode|EVM error/i.test(details)) return refuse('REVERTED', 'The contract reverted', details);
  if (/insufficient funds/i.test(details)) return createPoor();
  return /gas/i.test(details) ? refuse('GAS_ESTIMATION_FAILED', 'The gas cannot be estimated', details) : null;
}

function createPoor(): AgentKitError {
  return new AgentKitError('INSUFFICIENT_FUNDS', 'There are insufficient funds for the value and the gas.');
}

/** Nothing was sent. */
function explainAccountError({ code, message, details }: PaymentError): AgentKitError {
  const reason = typeof details['reason'] === 'string' ? details['reason'] : message;
  if (code === 'wallet_unavailable') return refuse('NETWORK_ERROR', 'The network did not answer', message);
  if (code === 'wrong_chain')
    return new AgentKitError('INVALID_CONFIGURATION', quoteReason(message, 'INVALID_CONFIGURATION'));
  if (details['refusal'] === 'replacement') {
    return new AgentKitError('NONCE_TAKEN', 'Another transaction of the account with the same nonce is on its way.');
  }
  return explainWords(reason) ?? refuse('NETWORK_ERROR', 'The network refused the transaction', reason);
}

function refuse(code: AgentKitErrorCode, sentence: string, reason: string): AgentKitError {
  return new AgentKitError(code, `${sentence}: ${quoteReason(reason, code)}.`);
}

function findRevertData(error: BaseError): Hex | null {
  let found: Hex | null = null;
  error.walk((cause) => {
    // Other errors have data too: the data that they could not decode.
    if (!(cause instanceof RpcRequestError || cause instanceof RawContractError)) return false;
    const { data } = cause;
    const inner = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data;
    // A longer text is not a selector with arguments.
    if (isHex(inner) && (inner === '0x' || inner.length >= 10)) found = inner;
    return false;
  });
  return found;
}

/** Whether the outcome of a request is unknown. */
export function isNoAnswer(error: unknown): boolean {
  return error instanceof AgentKitError ? error.code === 'NETWORK_ERROR' : isUnanswered(error);
}

/**
 * The outcome of a request is unknown. The message contains the RPC server's host, but not the rest of its URL, which
 * may contain a key.
 */
function explainNoAnswer(error: BaseError): AgentKitError {
  const busy = findRefusal(error);
  if (busy)
    return create(
      'The network did not answer',
      new URL(busy.url).host,
      `answers ${quote(readDetails(error))}`,
      'refuses',
    );
  const failure = readNoAnswer(error);
  if (failure) return create('The network did not answer', failure.host, failure.reason, 'unreachable');
  return new AgentKitError('NETWORK_ERROR', `The network did not answer: ${quote(error.shortMessage)}.`);
}

function create(what: string, host: string, reason: string, rpcTrouble: 'refuses' | 'unreachable'): AgentKitError {
  // A host may have any name, including the keyword of another error.
  const shown = hideKeyWords(host, 'NETWORK_ERROR');
  return new AgentKitError('NETWORK_ERROR', `${what}: the RPC server at ${shown} ${reason}.`, {
    details: { rpcHost: shown, rpcTrouble },
  });
}

const quote = (reason: string): string => quoteReason(reason, 'NETWORK_ERROR');

/** Whether a contract refused, as opposed to a node that failed to answer. */
export function isRevert(error: unknown): boolean {
  return error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError) !== null;
}

/** The specification's delay before a second attempt after `NETWORK_ERROR` (section "Limits"). */
export const NETWORK_RETRY_DELAY_MS = 5_000;

/**
 * Runs work that sends nothing; after a network error once more, `delayMs` later.
 * @throws AgentKitError, for any error of the work.
 */
export async function retryNetwork<T>(work: () => Promise<T>, delayMs: number): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = explainFailure(error);
    if (failure.code !== 'NETWORK_ERROR') throw failure;
  }
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  return work().catch((error: unknown) => {
    throw explainFailure(error);
  });
}
