import {
  BaseError,
  decodeErrorResult,
  HttpRequestError,
  InsufficientFundsError,
  isHex,
  RpcRequestError,
  SocketClosedError,
  TimeoutError,
  type Abi,
  type Hex,
} from 'viem';

import { AgentKitError, type AgentKitErrorCode } from '../agent-kit-error.js';
import type { StepFailures } from '../plan/plan.js';
import { quoteUntrusted } from '../tokens/untrusted-text.js';

/** One sentence for each way a contract refuses, with the documented key word. */
const REFUSALS: Partial<Record<AgentKitErrorCode, string>> = {
  SLIPPAGE: 'The price moved beyond the slippage tolerance',
  INSUFFICIENT_LIQUIDITY: 'There is too little liquidity',
  INSUFFICIENT_COLLATERAL: 'The collateral is too low',
  INSUFFICIENT_MARGIN: 'The margin is too low',
  LEVERAGE_TOO_HIGH: 'The leverage is too high',
  BELOW_MINIMUM: 'The amount is below the minimum amount',
};

/** How standard Solidity reverts look; a step's own errors come on top. */
const STANDARD_ERRORS = [
  { type: 'error', name: 'Error', inputs: [{ name: 'reason', type: 'string' }] },
  { type: 'error', name: 'Panic', inputs: [{ name: 'code', type: 'uint256' }] },
] as const satisfies Abi;

/** What a contract refused, from its revert data. */
export function explainRevert(data: Hex, failures: StepFailures = {}): AgentKitError {
  const { name, text } = decodeRevert(data, failures.errors ?? []);
  const matched = Object.entries(failures.codes ?? {}).find(([key]) => name === key || text.includes(key));
  const code = matched?.[1] ?? 'REVERTED';
  const sentence = REFUSALS[code] ?? 'The contract reverted';
  const reason = text === '' ? 'it gave no reason' : quoteUntrusted(text);
  return new AgentKitError(code, `${sentence}: ${reason}.`, { details: { reason, data: data.slice(0, 138) } });
}

/**
 * What an error number stands for, where a contract returns one instead of reverting; null for 0, success.
 * @param detail the third number of its `Failure` event, where it emitted one.
 */
export function explainReturnCode(
  returned: bigint,
  { returnCodes = {} }: StepFailures,
  detail?: bigint,
): AgentKitError | null {
  if (returned === 0n) return null;
  const { name, code } = returnCodes[`${returned}:${detail}`] ??
    returnCodes[returned.toString()] ?? { name: `error ${returned}`, code: 'PROTOCOL_FAILED' as const };
  const sentence = REFUSALS[code] ?? 'The protocol refused';
  return new AgentKitError(code, `${sentence}: ${name}.`, { details: { errorNumber: returned.toString(), name } });
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
 * Any error of a chain call as one of the kit's. Never with the RPC's URL, which may hold a key.
 * @param failures what the called contracts' errors mean.
 */
export function explainFailure(error: unknown, failures: StepFailures = {}): AgentKitError {
  if (error instanceof AgentKitError) return error;
  if (!(error instanceof BaseError)) {
    return new AgentKitError('PROTOCOL_FAILED', `The operation failed: ${quoteUntrusted(String(error))}.`, {
      cause: error,
    });
  }
  const revertData = findRevertData(error);
  if (revertData !== null) return explainRevert(revertData, failures);
  // `details` is the node's own text; the rest of a viem message repeats the request and its URL.
  const details = (error.details || error.shortMessage).slice(0, 1_000);
  if (isNoAnswer(error)) {
    return new AgentKitError('NETWORK_ERROR', `The network did not answer: ${quoteUntrusted(error.shortMessage)}.`);
  }
  if (error.walk((cause) => cause instanceof InsufficientFundsError) || /insufficient funds/i.test(details)) {
    return new AgentKitError('INSUFFICIENT_FUNDS', 'There are insufficient funds for the value and the gas.');
  }
  if (/revert/i.test(details)) {
    return new AgentKitError('REVERTED', `The contract reverted: ${quoteUntrusted(details)}.`);
  }
  if (/gas/i.test(details)) {
    return new AgentKitError('GAS_ESTIMATION_FAILED', `The gas cannot be estimated: ${quoteUntrusted(details)}.`);
  }
  return new AgentKitError('NETWORK_ERROR', `The network refused the request: ${quoteUntrusted(details)}.`);
}

function findRevertData(error: BaseError): Hex | null {
  let found: Hex | null = null;
  error.walk((cause) => {
    const data = (cause as { data?: unknown }).data;
    const inner = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data;
    // A longer text is no selector with arguments; a decoded error is an object, and has its raw data further down.
    if (isHex(inner) && (inner === '0x' || inner.length >= 10)) found = inner;
    return false;
  });
  return found;
}

/** Whether it stays open what became of a request. */
export function isNoAnswer(error: unknown): boolean {
  if (error instanceof AgentKitError) return error.code === 'NETWORK_ERROR';
  if (!(error instanceof BaseError)) return false;
  const isTransport = error.walk(
    (cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError || cause instanceof SocketClosedError,
  );
  // -32005 is "limit exceeded": the node says to ask later.
  const isLimited = error.walk((cause) => cause instanceof RpcRequestError && cause.code === -32005);
  return isTransport !== null || isLimited !== null;
}
