import type { Hex } from '../wire/hex.js';
import { hashText, hashTypedData, hashWords, wordOfAddress, wordOfNumber } from './eip712-words.js';
import { PERMIT2_ADDRESS, type Permit2Transfer } from './signed-permit.js';
import { PERMIT2_TYPES, renderTypes } from './typed-data.js';

const DOMAIN_TYPE = hashText('EIP712Domain(string name,uint256 chainId,address verifyingContract)');
const DOMAIN_NAME = hashText('Permit2');
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
  return `0x${hashWords(DOMAIN_TYPE, DOMAIN_NAME, wordOfNumber(chainId), wordOfAddress(PERMIT2_ADDRESS))}`;
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
