import { PERMIT2_ADDRESS, type Hex } from '@tollgate/protocol';

import { encodeAddress, encodeNumber } from './abi-encoding.js';
import {
  askContract,
  askForBalance,
  askForCode,
  hasCode,
  readCall,
  readCode,
  readWord,
  tryCall,
  type TriedCall,
} from './contract-question.js';
import { readSignatureAnswer, type SignatureAnswer } from './contract-signature.js';
import type { RpcCall, RpcResult } from './rpc-endpoint.js';

/** What Permit2 knows a permit by. */
export interface PermitName {
  owner: Hex;
  /** As decimal text. */
  nonce: string;
}

export interface PermitQuestion extends PermitName {
  token: Hex;
  /** As its sender would send it: under scheme `upto` it fails for everybody else. */
  settlement: TriedCall;
  /** As of `askForSignature`; null where the payer's own key made it. */
  signatureCheck: RpcCall | null;
}

/** Whether the settlement is tried. It may run the payer's own code, and Permit2 hands on whatever that fails with. */
export interface PermitTrial {
  isTried: boolean;
}

/** What the chain says of a permit that is to be settled, at its newest block. */
export interface PermitView {
  /** Null: there is no Permit2 on this chain. */
  isNonceTaken: boolean | null;
  /** There is a contract where the permit is to be sent. */
  hasProxy: boolean;
  /** Null: there is no contract that answers at the token's address. */
  balanceBaseUnits: bigint | null;
  /** What the payer lets Permit2 move of the token. */
  allowanceBaseUnits: bigint | null;
  /** False also where it was not tried. */
  wouldSettle: boolean;
  /** `0x`: it has none. */
  payerCode: Hex;
  hasPayerCode: boolean;
  /** Null: not asked. */
  signatureAnswer: SignatureAnswer | null;
  headBlockNumber: number;
}

/** `nonceBitmap(address,uint256)` (Permit2) */
const NONCE_BITMAP = '0x4fe02b44';
/** `allowance(address,address)` (ERC-20) */
const ALLOWANCE = '0xdd62ed3e';

/** The calls of one round trip, and how their results are read. */
export function askAboutPermit(
  question: PermitQuestion,
  { isTried }: PermitTrial,
): {
  calls: RpcCall[];
  read(results: readonly RpcResult[], headBlockNumber: number): PermitView;
} {
  const { owner, token, settlement, signatureCheck } = question;
  const signatureCalls = signatureCheck === null ? [] : [signatureCheck];
  return {
    // The nonce last: what nodes answer in turn says so of a payment that is settled meanwhile.
    calls: [
      askForBalance(token, owner),
      askContract(token, `${ALLOWANCE}${encodeAddress(owner)}${encodeAddress(PERMIT2_ADDRESS)}`),
      askForCode(settlement.to),
      askForCode(owner),
      ...signatureCalls,
      ...(isTried ? [tryCall(settlement)] : []),
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
        wouldSettle: isTried && readCall(results.at(-2)) !== null,
        payerCode,
        hasPayerCode: payerCode !== '0x',
        signatureAnswer: signatureCheck === null ? null : readSignatureAnswer(check),
        headBlockNumber,
      };
    },
  };
}

/** The call that asks for the word of Permit2's bitmap that a nonce is a bit of. */
export function askForPermitNonce({ owner, nonce }: PermitName): RpcCall {
  return askContract(PERMIT2_ADDRESS, `${NONCE_BITMAP}${encodeAddress(owner)}${encodeNumber(BigInt(nonce) >> 8n)}`);
}

/** Whether the nonce is taken; null where no Permit2 answers. */
export function readPermitNonce({ nonce }: PermitName, result?: RpcResult): boolean | null {
  const word = readWord(result);
  return word === null ? null : ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n;
}
