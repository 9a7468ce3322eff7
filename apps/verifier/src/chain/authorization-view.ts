import type { Hex } from '@tollgate/protocol';

import { encodeAddress } from './abi-encoding.js';
import {
  askContract,
  askForBalance,
  askForCode,
  readCall,
  readCode,
  readWord,
  tryCall,
  type TriedCall,
} from './contract-question.js';
import { readSignatureAnswer, type SignatureAnswer } from './contract-signature.js';
import type { RpcCall, RpcResult } from './rpc-endpoint.js';

/** What a token knows an authorization by. */
export interface AuthorizationName {
  asset: Hex;
  payer: Hex;
  nonce: Hex;
}

/** How an authorization may be settled. */
export interface SettlementRoute {
  settlement: TriedCall;
  /** As of `askForSignature`; null where the payer's own key made it. */
  signatureCheck: RpcCall | null;
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
  /** `0x`: it has none. */
  payerCode: Hex;
  hasPayerCode: boolean;
  /** Null: not asked. */
  signatureAnswer: SignatureAnswer | null;
  headBlockNumber: number;
}

/** `authorizationState(address,bytes32)` (EIP-3009) */
const AUTHORIZATION_STATE = '0xe94a0102';

/** The calls of one round trip, and how their results are read. */
export function askAboutAuthorization({ route, deployingRoute, ...name }: AuthorizationQuestion): {
  calls: RpcCall[];
  read(results: readonly RpcResult[], headBlockNumber: number): AuthorizationView;
} {
  const { asset, payer } = name;
  const routeCalls = tryRoute(route);
  return {
    // The nonce last: what nodes answer in turn says so of a payment that is settled meanwhile.
    calls: [
      askForBalance(asset, payer),
      askForCode(payer),
      ...routeCalls,
      ...(deployingRoute === null ? [] : tryRoute(deployingRoute)),
      askForNonce(name),
    ],
    read: ([balance, code, ...results], headBlockNumber) => {
      const nonce = results.pop();
      const payerCode = readCode(code);
      const hasPayerCode = payerCode !== '0x';
      const isDeploying = !hasPayerCode && deployingRoute !== null;
      const [settlement, check = null] = isDeploying ? results.slice(routeCalls.length) : results;
      return {
        isNonceTaken: readNonce(nonce),
        balanceBaseUnits: readWord(balance),
        wouldSettle: readCall(settlement) !== null,
        payerCode,
        hasPayerCode,
        signatureAnswer: check && readSignatureAnswer(check),
        headBlockNumber,
      };
    },
  };
}

/** The call that asks whether the nonce of an authorization is taken. */
export function askForNonce({ asset, payer, nonce }: AuthorizationName): RpcCall {
  return askContract(asset, `${AUTHORIZATION_STATE}${encodeAddress(payer)}${nonce.slice(2)}`);
}

/** Whether the nonce is taken. A token without EIP-3009 has taken none; that it cannot settle shows when it is tried. */
export function readNonce(result?: RpcResult): boolean {
  return (readWord(result) ?? 0n) !== 0n;
}

function tryRoute({ settlement, signatureCheck }: SettlementRoute): RpcCall[] {
  return [tryCall(settlement), ...(signatureCheck === null ? [] : [signatureCheck])];
}
