import { hashText, hashTypedData, hashWords, wordOfAddress, wordOfNumber } from './eip712-words.js';
import type { Hex } from './hex.js';
import { PERMIT2_ADDRESS, type Permit2Transfer } from './signed-permit.js';

const DOMAIN_TYPE = hashText('EIP712Domain(string name,uint256 chainId,address verifyingContract)');
const DOMAIN_NAME = hashText('Permit2');
const TOKEN_TEXT = 'TokenPermissions(address token,uint256 amount)';
const TOKEN_TYPE = hashText(TOKEN_TEXT);

const WITNESS_TEXTS = {
  exact: 'Witness(address to,uint256 validAfter)',
  upto: 'Witness(address to,address facilitator,uint256 validAfter)',
} as const;
const WITNESS_TYPES = { exact: hashText(WITNESS_TEXTS.exact), upto: hashText(WITNESS_TEXTS.upto) };
const PERMIT_TYPES = { exact: hashText(permitText('exact')), upto: hashText(permitText('upto')) };

function permitText(scheme: keyof typeof WITNESS_TEXTS): string {
  const own = 'TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness';
  return `PermitWitnessTransferFrom(${own})${TOKEN_TEXT}${WITNESS_TEXTS[scheme]}`;
}

/** Permit2's domain separator on a chain (EIP-712): the same for every permit there, so hash it once. */
export function hashPermit2Domain(chainId: number): Hex {
  return `0x${hashWords(DOMAIN_TYPE, DOMAIN_NAME, wordOfNumber(chainId), wordOfAddress(PERMIT2_ADDRESS))}`;
}

/**
 * What the payer of a Permit2 transfer signs: the EIP-712 hash of `PermitWitnessTransferFrom` with the witness of its
 * scheme, under `hashPermit2Domain`. The transfer is one that `parseSignedPayment` let through.
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
