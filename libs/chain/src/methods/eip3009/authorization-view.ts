import type { Hex } from '@tollgate/protocol';

import { encodeAddress } from '../../contracts/abi-encoding.js';
import {
  askContract,
  askForBalance,
  askForCode,
  readCall,
  readCode,
  readWord,
  tryCall,
  type ChainQuestion,
  type TriedCall,
} from '../../contracts/contract-question.js';
import { readSignatureAnswer } from '../../contracts/contract-signature.js';
import { type Deployment, isExpectedFactory } from '../../contracts/wallet-factories.js';
import type { RpcCall, RpcResult } from '../../rpc/rpc-endpoint.js';
import type { UnsettledView } from '../chain-method.js';

/** The fields by which a token identifies an authorization. */
export interface AuthorizationName {
  asset: Hex;
  payer: Hex;
  nonce: Hex;
}

/** How an authorization may be settled. */
export interface SettlementRoute {
  settlement: TriedCall;
  /** From `askForSignature`; null when the payer's own key made the signature. */
  signatureCheck: RpcCall | null;
}

export interface DeployingRoute extends SettlementRoute {
  deployment: Deployment;
}

export interface AuthorizationQuestion extends AuthorizationName {
  route: SettlementRoute;
  /** The route to use while the payer has no code; null when there is no other. */
  deployingRoute: DeployingRoute | null;
}

/** `authorizationState(address,bytes32)` (EIP-3009) */
const AUTHORIZATION_STATE = '0xe94a0102';

/** The calls of one round trip, and the function that reads their results. */
export function askAboutAuthorization({
  route,
  deployingRoute,
  ...name
}: AuthorizationQuestion): ChainQuestion<UnsettledView> {
  const { asset, payer } = name;
  const routeCalls = tryRoute(route);
  return {
    // The nonce goes last. A node answers the calls in turn, so a payment that is settled in between shows as taken.
    calls: [
      askForBalance(asset, payer),
      askForCode(payer),
      ...routeCalls,
      ...(deployingRoute === null ? [] : [...tryRoute(deployingRoute), askForCode(deployingRoute.deployment.to)]),
      askForNonce(name),
    ],
    read: ([balance, code, ...results], headBlockNumber) => {
      const nonce = results.pop();
      const payerCode = readCode(code);
      const hasPayerCode = payerCode !== '0x';
      const deployment = hasPayerCode ? undefined : deployingRoute?.deployment;
      const factory = deployingRoute === null ? undefined : results.pop();
      const [settlement, check = null] = deployment ? results.slice(routeCalls.length) : results;
      const isFactory = deployment === undefined || isExpectedFactory(deployment, readCode(factory));
      return {
        isNonceTaken: readNonce(nonce),
        balanceBaseUnits: readWord(balance),
        wouldSettle: readCall(settlement) !== null,
        payerCode,
        hasPayerCode,
        signatureAnswer: isFactory ? check && readSignatureAnswer(check) : 'no_deployer',
        headBlockNumber,
      };
    },
  };
}

/** The call that reads whether an authorization's nonce is taken. */
export function askForNonce({ asset, payer, nonce }: AuthorizationName, blockNumber?: number): RpcCall {
  return askContract(asset, `${AUTHORIZATION_STATE}${encodeAddress(payer)}${nonce.slice(2)}`, blockNumber);
}

/**
 * Whether the nonce is taken. A token without EIP-3009 counts as free; the simulation then shows that it cannot settle.
 */
export function readNonce(result?: RpcResult): boolean {
  return (readWord(result) ?? 0n) !== 0n;
}

function tryRoute({ settlement, signatureCheck }: SettlementRoute): RpcCall[] {
  return [tryCall(settlement), ...(signatureCheck === null ? [] : [signatureCheck])];
}
