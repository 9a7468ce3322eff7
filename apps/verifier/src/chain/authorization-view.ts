import type { Hex } from '@tollgate/protocol';

import { hasContractFailed, valueOf, type RpcCall, type RpcResult } from './rpc-endpoint.js';
import { malformed, parseData } from './rpc-value.js';

/** A call that is tried and not sent. */
export interface TriedCall {
  to: Hex;
  data: Hex;
  gas: number;
}

/** What a token knows an authorization by. */
export interface AuthorizationName {
  asset: Hex;
  payer: Hex;
  nonce: Hex;
}

/** How an authorization may be settled. */
export interface SettlementRoute {
  settlement: TriedCall;
  /** Asks the payer's contract for its opinion of the signature; null where the payer's own key made it. */
  signatureCheck: TriedCall | null;
}

export interface AuthorizationQuestion extends AuthorizationName {
  route: SettlementRoute;
  /** What holds instead while the payer has no code; null: nothing else may be done then. */
  deployingRoute: SettlementRoute | null;
}

/** What the chain says of an authorization that is to be settled, at its newest block. */
export interface AuthorizationView {
  /** Used or cancelled. */
  isNonceTaken: boolean;
  /** Null: there is no contract that answers at the asset's address. */
  balanceBaseUnits: bigint | null;
  wouldSettle: boolean;
  /** Null: not asked. */
  hasPayerCode: boolean | null;
  /** What came of the signature check; null where it failed, or was not asked for. */
  signatureAnswer: Hex | null;
  headBlockNumber: number;
}

/** `authorizationState(address,bytes32)` (EIP-3009) */
const AUTHORIZATION_STATE = '0xe94a0102';
/** `balanceOf(address)` (ERC-20) */
const BALANCE_OF = '0x70a08231';
const WORD_LENGTH = 2 + 64;
const MISSING: RpcResult = { kind: 'missing' };

/** The calls of one round trip, and how their results are read. */
export function askAboutAuthorization({ route, deployingRoute, ...name }: AuthorizationQuestion): {
  calls: RpcCall[];
  read(results: readonly RpcResult[], headBlockNumber: number): AuthorizationView;
} {
  const { asset, payer } = name;
  const routeCalls = tryRoute(route);
  const codeCalls = route.signatureCheck === null ? [] : [{ method: 'eth_getCode', params: [payer, 'latest'] }];
  return {
    // The nonce last: what nodes answer in turn says so of a payment that is settled meanwhile.
    calls: [
      call(asset, `${BALANCE_OF}${wordOf(payer)}`),
      ...codeCalls,
      ...routeCalls,
      ...(deployingRoute === null ? [] : tryRoute(deployingRoute)),
      askForNonce(name),
    ],
    read: ([balance = MISSING, ...results], headBlockNumber) => {
      const nonce = results.pop() ?? MISSING;
      const hasPayerCode = codeCalls.length === 0 ? null : readCode(results.shift() ?? MISSING);
      const isDeploying = hasPayerCode === false && deployingRoute !== null;
      const [settlement = MISSING, check = null] = isDeploying ? results.slice(routeCalls.length) : results;
      return {
        isNonceTaken: readNonce(nonce),
        balanceBaseUnits: readBalance(balance),
        wouldSettle: readCall(settlement) !== null,
        hasPayerCode,
        signatureAnswer: check && readCall(check),
        headBlockNumber,
      };
    },
  };
}

/** The call that asks whether the nonce of an authorization is taken. */
export function askForNonce({ asset, payer, nonce }: AuthorizationName): RpcCall {
  return call(asset, `${AUTHORIZATION_STATE}${wordOf(payer)}${nonce.slice(2)}`);
}

/** Whether the nonce is taken. A token without EIP-3009 has taken none; that it cannot settle shows when it is tried. */
export function readNonce(result: RpcResult): boolean {
  const data = readCall(result);
  if (data === null || data === '0x') return false;
  return data.length === WORD_LENGTH ? BigInt(data) !== 0n : malformed('an authorizationState that is no word');
}

const wordOf = (address: Hex): string => address.slice(2).padStart(64, '0');

function call(to: Hex, data: string): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] };
}

function tryRoute({ settlement, signatureCheck }: SettlementRoute): RpcCall[] {
  return [tryCall(settlement), ...(signatureCheck === null ? [] : [tryCall(signatureCheck)])];
}

function tryCall({ to, data, gas }: TriedCall): RpcCall {
  return { method: 'eth_call', params: [{ to, data, gas: `0x${gas.toString(16)}` }, 'latest'] };
}

/** What a contract returned; null where it failed. */
function readCall(result: RpcResult): Hex | null {
  return hasContractFailed(result) ? null : parseData(valueOf(result, 'eth_call'), 'eth_call');
}

function readCode(result: RpcResult): boolean {
  return parseData(valueOf(result, 'eth_getCode'), 'code') !== '0x';
}

function readBalance(result: RpcResult): bigint | null {
  const data = readCall(result);
  if (data === null || data === '0x') return null;
  return data.length === WORD_LENGTH ? BigInt(data) : malformed('a balance that is no word');
}
