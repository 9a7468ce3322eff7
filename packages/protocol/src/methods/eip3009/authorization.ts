import type { Hex } from '../../wire/hex.js';
import { PaymentError } from '../../wire/payment-error.js';
import { createValidity, type SignedTransferTerms } from '../transfer-terms.js';
import {
  hashText,
  hashTypedData,
  hashWords,
  renderTypes,
  wordOfAddress,
  wordOfNumber,
  type TypedData,
} from '../typed-data.js';

/**
 * The terms of an EIP-3009 `transferWithAuthorization` as its payer signed it. Amounts are base units, times seconds,
 * as decimal text.
 */
export interface TransferAuthorization {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  /** 32 bytes that the token accepts once per payer. */
  nonce: Hex;
}

/** An EIP-3009 transfer signed by its payer. */
export interface SignedAuthorization {
  kind: 'authorization';
  authorization: TransferAuthorization;
  /**
   * 65 bytes from an account; any other length from a contract (EIP-1271), wrapped if it is not deployed yet
   * (EIP-6492).
   */
  signature: Hex;
}

/** The EIP-3009 authorization for a payer to sign. No tokens move until the server has it settled. */
export function createTransferAuthorization(terms: SignedTransferTerms): TransferAuthorization {
  const { from, payTo: to, amount: value, nonce } = terms;
  return { from, to, value, ...createValidity(terms), nonce };
}

/** The EIP-712 domain of a token. */
export interface TokenDomain {
  name: string;
  version: string;
  chainId: number;
  asset: Hex;
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

// Pure: the pay page leaves them out, which hashes nothing.
const TOKEN_DOMAIN_TYPE = /* @__PURE__ */ hashText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const AUTHORIZATION_TYPE = /* @__PURE__ */ hashText(/* @__PURE__ */ renderTypes(AUTHORIZATION_TYPES));

/** The domain separator (EIP-712): the same for every authorization of a token, so hash it once. */
export function hashTokenDomain({ name, version, chainId, asset }: TokenDomain): Hex {
  const words = [TOKEN_DOMAIN_TYPE, hashText(name), hashText(version), wordOfNumber(chainId), wordOfAddress(asset)];
  return `0x${hashWords(...words)}`;
}

/**
 * What the payer of an EIP-3009 `transferWithAuthorization` signs: the EIP-712 hash of the authorization under the
 * token's `hashTokenDomain`. The authorization must come from `parseSignedPayment`.
 */
export function hashTransferAuthorization(authorization: TransferAuthorization, domainSeparator: Hex): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const words = [
    AUTHORIZATION_TYPE,
    wordOfAddress(from),
    wordOfAddress(to),
    ...[value, validAfter, validBefore].map(wordOfNumber),
    nonce.slice(2),
  ];
  return hashTypedData(domainSeparator, hashWords(...words));
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

/** Why no payment in this token can be signed. */
export function createDomainMissing(asset: Hex): PaymentError {
  return new PaymentError(
    'cannot_pay',
    `The token ${asset} states no EIP-712 domain, so no payment in it can be signed.`,
    {
      hint: 'Nothing was paid. The server must take another token, or payments by transfer.',
      details: { asset },
    },
  );
}
