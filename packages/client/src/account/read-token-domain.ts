import { isUnknownBlock, type Hex } from '@tollgate/protocol';
import { BaseError, domainSeparator, parseAbi, type PublicClient } from 'viem';

import { isUnanswered, readDetails } from '../network/rpc-failure.js';

const abi = parseAbi([
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);
/** Name, version, chain and contract, without a salt: the domain of an EIP-3009 authorization. */
const FIELDS = '0x0f';
const MAX_TEXT_LENGTH = 4096;

export interface NamedDomain {
  name: string;
  version: string;
}

/**
 * The EIP-712 domain that a token states by `eip712Domain()` (EIP-5267); where it has none, that of its name and version
 * if its separator is the hash of it. Null for any other token.
 * @throws any error of reading the chain
 */
export async function readTokenDomain(client: PublicClient, chainId: number, asset: Hex): Promise<NamedDomain | null> {
  const call = { address: asset, abi } as const;
  const stated = await orNull(client.readContract({ ...call, functionName: 'eip712Domain' }));
  if (stated) {
    const [fields, name, version, statedChain, contract] = stated;
    const isOwn = statedChain === BigInt(chainId) && contract.toLowerCase() === asset.toLowerCase();
    return fields === FIELDS && isOwn ? limit({ name, version }) : null;
  }
  const [name, version, separator] = await Promise.all([
    orNull(client.readContract({ ...call, functionName: 'name' })),
    orNull(client.readContract({ ...call, functionName: 'version' })),
    orNull(client.readContract({ ...call, functionName: 'DOMAIN_SEPARATOR' })),
  ]);
  if (name === null || version === null) return null;
  const domain = { name, version, chainId, verifyingContract: asset };
  return domainSeparator({ domain }) === separator ? limit({ name, version }) : null;
}

/** Null for a contract without the function. */
async function orNull<Result>(reading: Promise<Result>): Promise<Result | null> {
  return reading.catch((error: unknown) => {
    const isBehind = error instanceof BaseError && isUnknownBlock(readDetails(error));
    if (isBehind || isUnanswered(error)) throw error;
    return null;
  });
}

function limit(domain: NamedDomain): NamedDomain | null {
  return domain.name.length <= MAX_TEXT_LENGTH && domain.version.length <= MAX_TEXT_LENGTH ? domain : null;
}
