import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

import type { Hex } from '../wire/hex.js';
import { PERMIT2_ADDRESS, type Permit2Transfer, type TransferAuthorization } from './signed-payment.js';
import { AUTHORIZATION_TYPES, PERMIT2_TYPES, renderTypes, type TokenDomain } from './typed-data.js';

/** Words are 64 hexadecimal digits without a prefix. */
const hashText = (text: string): string => bytesToHex(keccak_256(utf8ToBytes(text)));

/** keccak256 of the concatenated words. */
const hashWords = (...words: string[]): string => bytesToHex(keccak_256(hexToBytes(words.join(''))));

/** A natural number of at most 256 bits. */
const wordOfNumber = (value: string | number): string => BigInt(value).toString(16).padStart(64, '0');

const wordOfAddress = (address: Hex): string => address.slice(2).padStart(64, '0');

/** The hash to sign: of a struct under a domain separator. */
const hashTypedData = (domainSeparator: Hex, structHash: string): Hex =>
  `0x${hashWords('1901', domainSeparator.slice(2), structHash)}`;

const TOKEN_DOMAIN_TYPE = hashText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const AUTHORIZATION_TYPE = hashText(renderTypes(AUTHORIZATION_TYPES));

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

const PERMIT2_DOMAIN_TYPE = hashText('EIP712Domain(string name,uint256 chainId,address verifyingContract)');
const PERMIT2_DOMAIN_NAME = hashText('Permit2');
const { TokenPermissions } = PERMIT2_TYPES.exact;
const TOKEN_TYPE = hashText(renderTypes({ TokenPermissions }));
const WITNESS_TYPES = { exact: hashWitnessType('exact'), upto: hashWitnessType('upto') };
const PERMIT_TYPES = {
  exact: hashText(renderTypes(PERMIT2_TYPES.exact)),
  upto: hashText(renderTypes(PERMIT2_TYPES.upto)),
};

function hashWitnessType(scheme: keyof typeof PERMIT2_TYPES): string {
  const { Witness } = PERMIT2_TYPES[scheme];
  return hashText(renderTypes({ Witness }));
}

/** Permit2's domain separator on a chain (EIP-712): the same for every permit there, so hash it once. */
export function hashPermit2Domain(chainId: number): Hex {
  return `0x${hashWords(PERMIT2_DOMAIN_TYPE, PERMIT2_DOMAIN_NAME, wordOfNumber(chainId), wordOfAddress(PERMIT2_ADDRESS))}`;
}

/**
 * What the payer of a Permit2 transfer signs: the EIP-712 hash of `PermitWitnessTransferFrom` with the witness of its
 * scheme, under `hashPermit2Domain`. The transfer must come from `parseSignedPayment`.
 */
export function hashPermit2Transfer(transfer: Permit2Transfer, domainSeparator: Hex): Hex {
  const { scheme, permit2Authorization } = transfer;
  const { permitted, spender, nonce, deadline } = permit2Authorization;
  const structHash = hashWords(
    PERMIT_TYPES[scheme],
    hashWords(TOKEN_TYPE, wordOfAddress(permitted.token), wordOfNumber(permitted.amount)),
    wordOfAddress(spender),
    wordOfNumber(nonce),
    wordOfNumber(deadline),
    hashWitness(transfer),
  );
  return hashTypedData(domainSeparator, structHash);
}

function hashWitness({ scheme, permit2Authorization }: Permit2Transfer): string {
  const { to, validAfter } = permit2Authorization.witness;
  const own = scheme === 'upto' ? [wordOfAddress(permit2Authorization.witness.facilitator)] : [];
  return hashWords(WITNESS_TYPES[scheme], wordOfAddress(to), ...own, wordOfNumber(validAfter));
}
