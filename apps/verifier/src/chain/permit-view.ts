import { PERMIT2_ADDRESS, type Hex } from '@tollgate/protocol';

import type { TriedCall } from './authorization-view.js';
import { hasContractFailed, valueOf, type RpcCall, type RpcResult } from './rpc-endpoint.js';
import { malformed, parseData } from './rpc-value.js';

/** What Permit2 knows a permit by. */
export interface PermitName {
  owner: Hex;
  /** As decimal text. */
  nonce: string;
}

export interface PermitQuestion extends PermitName {
  token: Hex;
  /** As its sender would send it: under scheme `upto` it fails for everybody else. */
  settlement: TriedCall & { from?: Hex };
  /** Asks the payer's contract for its opinion of the signature; null where the payer's own key made it. */
  signatureCheck: TriedCall | null;
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
  wouldSettle: boolean;
  /** Null: not asked. */
  hasPayerCode: boolean | null;
  /** What came of the signature check; null where it failed, or was not asked for. */
  signatureAnswer: Hex | null;
  headBlockNumber: number;
}

/** `nonceBitmap(address,uint256)` (Permit2) */
const NONCE_BITMAP = '0x4fe02b44';
/** `balanceOf(address)` and `allowance(address,address)` (ERC-20) */
const BALANCE_OF = '0x70a08231';
const ALLOWANCE = '0xdd62ed3e';
const WORD_LENGTH = 2 + 64;
const MISSING: RpcResult = { kind: 'missing' };

/** The calls of one round trip, and how their results are read. */
export function askAboutPermit(question: PermitQuestion): {
  calls: RpcCall[];
  read(results: readonly RpcResult[], headBlockNumber: number): PermitView;
} {
  const { owner, token, settlement, signatureCheck } = question;
  const signatureCalls = signatureCheck === null ? [] : [askForCode(owner), tryCall(signatureCheck)];
  return {
    // The nonce last: what nodes answer in turn says so of a payment that is settled meanwhile.
    calls: [
      call(token, `${BALANCE_OF}${wordOf(owner)}`),
      call(token, `${ALLOWANCE}${wordOf(owner)}${wordOf(PERMIT2_ADDRESS)}`),
      askForCode(settlement.to),
      tryCall(settlement),
      ...signatureCalls,
      askForPermitNonce(question),
    ],
    read: (results, headBlockNumber) => {
      const [balance = MISSING, allowance = MISSING, proxy = MISSING, trial = MISSING] = results;
      const [code = MISSING, check = MISSING] = results.slice(4);
      return {
        isNonceTaken: readPermitNonce(question, results.at(-1) ?? MISSING),
        hasProxy: hasCode(proxy),
        balanceBaseUnits: readAmount(balance),
        allowanceBaseUnits: readAmount(allowance),
        wouldSettle: readCall(trial) !== null,
        hasPayerCode: signatureCheck === null ? null : hasCode(code),
        signatureAnswer: signatureCheck === null ? null : readCall(check),
        headBlockNumber,
      };
    },
  };
}

/** The call that asks for the word of Permit2's bitmap that a nonce is a bit of. */
export function askForPermitNonce({ owner, nonce }: PermitName): RpcCall {
  return call(
    PERMIT2_ADDRESS,
    `${NONCE_BITMAP}${wordOf(owner)}${(BigInt(nonce) >> 8n).toString(16).padStart(64, '0')}`,
  );
}

/** Whether the nonce is taken; null where no Permit2 answers. */
export function readPermitNonce({ nonce }: PermitName, result: RpcResult): boolean | null {
  const word = readAmount(result);
  return word === null ? null : ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n;
}

const wordOf = (address: Hex): string => address.slice(2).padStart(64, '0');

function call(to: Hex, data: string): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] };
}

function tryCall({ gas, ...tried }: TriedCall & { from?: Hex }): RpcCall {
  return { method: 'eth_call', params: [{ ...tried, gas: `0x${gas.toString(16)}` }, 'latest'] };
}

function askForCode(address: Hex): RpcCall {
  return { method: 'eth_getCode', params: [address, 'latest'] };
}

function hasCode(result: RpcResult): boolean {
  return parseData(valueOf(result, 'eth_getCode'), 'code') !== '0x';
}

/** What a contract returned; null where it failed. */
function readCall(result: RpcResult): Hex | null {
  return hasContractFailed(result) ? null : parseData(valueOf(result, 'eth_call'), 'eth_call');
}

function readAmount(result: RpcResult): bigint | null {
  const data = readCall(result);
  if (data === null || data === '0x') return null;
  return data.length === WORD_LENGTH ? BigInt(data) : malformed('an answer that is no word');
}
