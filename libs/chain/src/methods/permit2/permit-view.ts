import { PERMIT2_ADDRESS, type Hex } from '@tollgate/protocol';

import { encodeAddress, encodeNumber } from '../../contracts/abi-encoding.js';
import {
  askContract,
  askForBalance,
  askForCode,
  hasCode,
  readCall,
  readCode,
  readWord,
  tryCall,
  type ChainQuestion,
  type TriedCall,
} from '../../contracts/contract-question.js';
import { readSignatureAnswer } from '../../contracts/contract-signature.js';
import type { RpcCall, RpcResult } from '../../rpc/rpc-endpoint.js';
import type { UnsettledView } from '../chain-method.js';

/** The fields by which Permit2 identifies a permit. */
export interface PermitName {
  owner: Hex;
  /** As decimal text. */
  nonce: string;
}

export interface PermitQuestion extends PermitName {
  token: Hex;
  /** Simulated from its sender's address: under scheme `upto` it fails for every other sender. */
  settlement: TriedCall;
  /** From `askForSignature`; null when the payer's own key made the signature. */
  signatureCheck: RpcCall | null;
}

/**
 * Whether to simulate the settlement. It may run the payer's own code, and Permit2 passes on whatever that code reverts
 * with.
 */
interface PermitSimulation {
  isSimulated: boolean;
}

export interface PermitView extends UnsettledView {
  /** A contract exists at the proxy address that settles the permit. */
  hasProxy: boolean;
  /** How much of the token the payer lets Permit2 move. */
  allowanceBaseUnits: bigint | null;
}

/** `nonceBitmap(address,uint256)` (Permit2) */
const NONCE_BITMAP = '0x4fe02b44';
/** `allowance(address,address)` (ERC-20) */
const ALLOWANCE = '0xdd62ed3e';

/** The calls of one round trip, and the function that reads their results. */
export function askAboutPermit(question: PermitQuestion, { isSimulated }: PermitSimulation): ChainQuestion<PermitView> {
  const { owner, token, settlement, signatureCheck } = question;
  const signatureCalls = signatureCheck === null ? [] : [signatureCheck];
  return {
    // The nonce goes last. A node answers the calls in turn, so a payment that is settled in between shows as taken.
    calls: [
      askForBalance(token, owner),
      askContract(token, `${ALLOWANCE}${encodeAddress(owner)}${encodeAddress(PERMIT2_ADDRESS)}`),
      askForCode(settlement.to),
      askForCode(owner),
      ...signatureCalls,
      ...(isSimulated ? [tryCall(settlement)] : []),
      askForPermitNonce(question),
    ],
    read: (results, headBlockNumber) => {
      const [balance, allowance, proxy, code, check] = results;
      const payerCode = readCode(code);
      return {
        isNonceTaken: readPermitNonce(question, results.at(-1)),
        hasProxy: hasCode(proxy),
        balanceBaseUnits: readWord(balance),
        allowanceBaseUnits: readWord(allowance),
        wouldSettle: isSimulated && readCall(results.at(-2)) !== null,
        payerCode,
        hasPayerCode: payerCode !== '0x',
        signatureAnswer: signatureCheck === null ? null : readSignatureAnswer(check),
        headBlockNumber,
      };
    },
  };
}

/** The call that reads the word of Permit2's nonce bitmap that holds this nonce's bit. */
export function askForPermitNonce({ owner, nonce }: PermitName, blockNumber?: number): RpcCall {
  const data = `${NONCE_BITMAP}${encodeAddress(owner)}${encodeNumber(BigInt(nonce) >> 8n)}`;
  return askContract(PERMIT2_ADDRESS, data, blockNumber);
}

/** Whether the nonce is taken; null where Permit2 is not deployed. */
export function readPermitNonce({ nonce }: PermitName, result?: RpcResult): boolean | null {
  const word = readWord(result);
  return word === null ? null : ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n;
}
