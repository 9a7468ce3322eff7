import type { Hex } from '../wire/hex.js';
import { hashText, hashTypedData, hashWords, wordOfAddress, wordOfNumber } from './eip712-words.js';
import type { TransferAuthorization } from './signed-payment.js';
import { AUTHORIZATION_TYPES, renderTypes, type TokenDomain } from './typed-data.js';

const DOMAIN_TYPE = hashText('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');
const AUTHORIZATION_TYPE = hashText(renderTypes(AUTHORIZATION_TYPES));

/** The domain separator (EIP-712): the same for every authorization of a token, so hash it once. */
export function hashTokenDomain({ name, version, chainId, asset }: TokenDomain): Hex {
  const words = [DOMAIN_TYPE, hashText(name), hashText(version), wordOfNumber(chainId), wordOfAddress(asset)];
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
