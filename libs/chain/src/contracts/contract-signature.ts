import { hash } from 'node:crypto';

import type { Hex } from '@tollgate/protocol';

import type { RpcCall, RpcResult } from '../rpc/rpc-endpoint.js';
import { toQuantity } from '../rpc/rpc-value.js';
import { ShortMemory } from '../rpc/short-memory.js';
import { encodeBytes, encodeNumber, WORD_BYTES } from './abi-encoding.js';
import { readCall, type ContractCall } from './contract-question.js';

export interface ContractSignature {
  signer: Hex;
  hash: Hex;
  signature: Hex;
}

/**
 * `no`: also for an address without code, and a contract that fails. `no_deployer`: no contract exists at the address
 * that was to deploy the signer. `failed`: the RPC server could not finish the call.
 */
export type SignatureAnswer = 'yes' | 'no' | 'no_deployer' | 'failed';

const EIP_1271_MAGIC = '1626ba7e';
/** After the hash and this offset. */
const SIGNATURE_OFFSET = 2 * WORD_BYTES;

/** Enough for any wallet, too little for a contract that tries to keep the RPC server busy. */
const SIGNATURE_GAS = 2_050_000;

/** `isValidSignature(bytes32,bytes)` (EIP-1271): selector, hash, offset, length, padded bytes. */
function encodeIsValidSignature(hash: Hex, signature: Hex): Hex {
  return `0x${EIP_1271_MAGIC}${hash.slice(2)}${encodeNumber(SIGNATURE_OFFSET)}${encodeBytes(signature)}`;
}

/**
 * Asks a contract whether it accepts a signature, and gets one word back whatever the contract returns or reverts with:
 * an RPC server would pass on a megabyte. The call runs as creation code, which an `eth_call` without recipient
 * executes and discards.
 * @param deployment a call that deploys the signer, made first
 */
export function askForSignature({ signer, hash, signature }: ContractSignature, deployment?: ContractCall): RpcCall {
  const check = { to: signer, data: encodeIsValidSignature(hash, signature) };
  const data = encodeSignatureProgram(check, deployment);
  return { method: 'eth_call', params: [{ data, gas: toQuantity(SIGNATURE_GAS) }, 'latest'] };
}

export function readSignatureAnswer(result: RpcResult | undefined): SignatureAnswer {
  const word = readCall(result);
  if (word === null) return 'failed';
  if (word === YES) return 'yes';
  return word === NO_DEPLOYER ? 'no_deployer' : 'no';
}

const YES: Hex = `0x${encodeNumber(1)}`;
const NO_DEPLOYER: Hex = `0x${encodeNumber(2)}`;

/**
 * Copies the calldata of each call from behind the code to memory word 1, makes the call, and puts the first word of
 * the answer into memory word 0. Returns 1 for the magic value, and 2 when the deploying call returned nothing, which
 * Multicall3 never does. Runs on every fork since Constantinople: no PUSH0.
 */
function encodeSignatureProgram(check: ContractCall, deployment?: ContractCall): Hex {
  const payloads = [deployment?.data ?? '0x', check.data] as const;
  const [deployingLength, checkLength] = payloads.map((data) => (data.length - '0x'.length) / 2) as [number, number];
  const assemble = (codeLength: number): string =>
    [
      ...(deployment
        ? [
            copyCode(codeLength, deployingLength),
            `60006000${push3(deployingLength)}60206000`, // no answer wanted; calldata from word 1; no value
            `73${deployment.to.slice(2)}5af150`, // PUSH20 to, GAS, CALL, POP
            '3d1560011b', // RETURNDATASIZE, ISZERO, 1, SHL: 2 where nothing was returned
          ]
        : ['6000']),
      copyCode(codeLength + deployingLength, checkLength),
      `60206000${push3(checkLength)}6020`, // the answer into word 0; calldata from word 1
      `73${check.to.slice(2)}5afa`, // PUSH20 signer, GAS, STATICCALL
      '601f3d1116', // at least a word was returned: 31 < RETURNDATASIZE; AND
      `60005163${EIP_1271_MAGIC}60e01b1416`, // MLOAD, the magic value shifted left, EQ, AND
      '1760005260206000f3', // OR, MSTORE, RETURN of the word
    ].join('');
  const code = assemble(assemble(0).length / 2);
  return `0x${code}${payloads.map((data) => data.slice(2)).join('')}`;
}

/** CODECOPY to memory word 1. */
function copyCode(offset: number, length: number): string {
  return `${push3(length)}${push3(offset)}602039`;
}

function push3(value: number): string {
  return `62${value.toString(16).padStart(6, '0')}`;
}

/** Short, because a wallet's owner may approve a signature that the wallet refused a moment ago. */
const REMEMBERED_MS = 5_000;
const MAX_REMEMBERED = 4096;

/** A short name for one contract's signature. */
export function nameSignature({ signer, hash: signed, signature }: ContractSignature): string {
  return hash('sha256', `${signer} ${signed} ${signature}`, 'base64url');
}

/** Signatures that contracts refused a moment ago, so that they are not asked again at once. */
export class RefusedSignatures {
  readonly counts = { signature_refused_again: 0 };
  readonly #known = new ShortMemory<true>({ rememberedMs: REMEMBERED_MS, maxRemembered: MAX_REMEMBERED });

  include(signed: ContractSignature): boolean {
    const isKnown = this.#known.find(nameSignature(signed)) !== null;
    if (isKnown) this.counts.signature_refused_again++;
    return isKnown;
  }

  remember(signed: ContractSignature): void {
    this.#known.keep(nameSignature(signed), true);
  }
}
