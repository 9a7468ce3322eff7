import { isHash, type Hex } from '@tollgate/protocol';
import { decodeFunctionResult, domainSeparator, parseAbi } from 'viem';

import type { RpcCall, RpcResult } from '../rpc/rpc-endpoint.js';
import { askContract, readCall } from './contract-question.js';

/** `DOMAIN_SEPARATOR()` (EIP-2612, EIP-3009) */
const DOMAIN_SEPARATOR = '0x3644e515';
/** `eip712Domain()` (EIP-5267) */
const EIP712_DOMAIN = '0x84b0196e';
const ABI = parseAbi([
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
]);
/** No domain takes as much; the text of one comes from a contract that anybody may have written. */
const MOST_DIGITS = 8_192;

/** What a token says about the EIP-712 domain of its signatures. */
export interface StatedDomain {
  readonly separator: Hex;
  /** Null where it only states the separator. */
  readonly named: { readonly name: string; readonly version: string } | null;
}

export function askForDomain(asset: Hex): RpcCall[] {
  return [askContract(asset, DOMAIN_SEPARATOR), askContract(asset, EIP712_DOMAIN)];
}

/** Null for a token that states neither: then nothing is known. */
export function readDomain([separator, domain]: readonly (RpcResult | undefined)[]): StatedDomain | null {
  const stated = readCall(separator);
  const described = readDescription(readCall(domain));
  // What signatures are checked against, where the two contradict each other.
  if (isHash(stated)) return { separator: stated, named: described?.named ?? null };
  return described;
}

function readDescription(data: Hex | null): StatedDomain | null {
  if (data === null || data.length > MOST_DIGITS) return null;
  try {
    const [fields, name, version, chainId, verifyingContract, salt] = decodeFunctionResult({ abi: ABI, data });
    const has = (bit: number): boolean => (Number(fields) & bit) !== 0;
    const parts = {
      ...(has(1) && { name }),
      ...(has(2) && { version }),
      ...(has(4) && { chainId }),
      ...(has(8) && { verifyingContract }),
      ...(has(16) && { salt }),
    };
    return { separator: domainSeparator({ domain: parts }), named: { name, version } };
  } catch {
    return null;
  }
}
