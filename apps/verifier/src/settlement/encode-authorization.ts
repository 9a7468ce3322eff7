import type { Hex, TransferAuthorization } from '@tollgate/protocol';

/** `transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)` */
const WITH_PARTS = '0xe3ee160e';
/** `transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)` */
const WITH_BYTES = '0xcf092995';
const ACCOUNT_SIGNATURE_LENGTH = 2 + 2 * 65;
/** Where the signature begins behind six words and its own offset. */
const SIGNATURE_OFFSET = 7 * 32;

/** Whether a signature has the length of an account's own: a contract's may have it, too. */
export function isAccountSignature(signature: Hex): boolean {
  return signature.length === ACCOUNT_SIGNATURE_LENGTH;
}

/** EIP-3009 with the signature as v, r and s: for accounts, and for tokens that know nothing else. */
export function encodeAccountAuthorization(authorization: TransferAuthorization, signature: Hex): Hex {
  const digits = signature.slice(2);
  const last = Number.parseInt(digits.slice(128), 16);
  // Some wallets write the recovery bit itself.
  const v = last < 27 ? last + 27 : last;
  return `${WITH_PARTS}${encodeTerms(authorization)}${word(BigInt(v))}${digits.slice(0, 128)}`;
}

/** EIP-3009 with the signature as bytes: for wallets that are contracts (EIP-1271). */
export function encodeContractAuthorization(authorization: TransferAuthorization, signature: Hex): Hex {
  const digits = signature.slice(2);
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
  return `${WITH_BYTES}${encodeTerms(authorization)}${word(BigInt(SIGNATURE_OFFSET))}${word(BigInt(digits.length / 2))}${padded}`;
}

function encodeTerms({ from, to, value, validAfter, validBefore, nonce }: TransferAuthorization): string {
  const numbers = [value, validAfter, validBefore].map((amount) => word(BigInt(amount)));
  return [address(from), address(to), ...numbers, nonce.slice(2)].join('');
}

/** 32 bytes. The amounts were parsed to be of at most 256 bits. */
function word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

function address(value: Hex): string {
  return value.slice(2).padStart(64, '0');
}
