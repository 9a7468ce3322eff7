import type { Hex } from '../wire/hex.js';
import { PERMIT2_ADDRESS, type Permit2Transfer, type TransferAuthorization } from './signed-payment.js';

/** The EIP-712 domain of a token. */
export interface TokenDomain {
  name: string;
  version: string;
  chainId: number;
  asset: Hex;
}

export interface TypedField {
  name: string;
  type: string;
}

/** The input of a wallet's signature (EIP-712, `eth_signTypedData_v4`); numbers in its message are bigints. */
export interface TypedData {
  domain: { name: string; version?: string; chainId: number; verifyingContract: Hex };
  types: Record<string, readonly TypedField[]>;
  primaryType: string;
  message: Record<string, unknown>;
}

/** The types that the payer of an EIP-3009 transfer signs. */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const PERMIT_TYPES = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
} as const;
const [TO, FACILITATOR, VALID_AFTER] = [
  { name: 'to', type: 'address' },
  { name: 'facilitator', type: 'address' },
  { name: 'validAfter', type: 'uint256' },
] as const;

/** The types that the payer of a Permit2 transfer signs, by scheme. */
export const PERMIT2_TYPES = {
  exact: { ...PERMIT_TYPES, Witness: [TO, VALID_AFTER] },
  upto: { ...PERMIT_TYPES, Witness: [TO, FACILITATOR, VALID_AFTER] },
} as const;

/**
 * The text of a type for hashing (EIP-712, `encodeType`); `types` lists the signed type first, then those it refers to
 * by name.
 */
export function renderTypes(types: Readonly<Record<string, readonly TypedField[]>>): string {
  return Object.entries(types)
    .map(([name, fields]) => `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`)
    .join('');
}

/** The typed data of an EIP-3009 transfer, for the payer's wallet to sign under the token's domain. */
export function createAuthorizationTypedData(
  { from, to, value, validAfter, validBefore, nonce }: TransferAuthorization,
  { name, version, chainId, asset }: TokenDomain,
): TypedData {
  const numbers = { value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) };
  return {
    domain: { name, version, chainId, verifyingContract: asset },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from, to, ...numbers, nonce },
  };
}

/** The typed data of a Permit2 transfer, for the payer's wallet to sign. */
export function createPermit2TypedData(
  { scheme, permit2Authorization: signed }: Permit2Transfer,
  chainId: number,
): TypedData {
  const { permitted, spender, nonce, deadline, witness } = signed;
  return {
    domain: { name: 'Permit2', chainId, verifyingContract: PERMIT2_ADDRESS },
    types: PERMIT2_TYPES[scheme],
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token: permitted.token, amount: BigInt(permitted.amount) },
      spender,
      nonce: BigInt(nonce),
      deadline: BigInt(deadline),
      witness: { ...witness, validAfter: BigInt(witness.validAfter) },
    },
  };
}
