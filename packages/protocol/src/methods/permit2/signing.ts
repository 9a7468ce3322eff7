import type { Hex } from '../../wire/hex.js';
import {
  hashText,
  hashTypedData,
  hashWords,
  renderTypes,
  wordOfAddress,
  wordOfNumber,
  type TypedData,
} from '../typed-data.js';
import { PERMIT2_ADDRESS, type Permit2Transfer } from './permit.js';

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
const PERMIT2_TYPES = {
  exact: { ...PERMIT_TYPES, Witness: [TO, VALID_AFTER] },
  upto: { ...PERMIT_TYPES, Witness: [TO, FACILITATOR, VALID_AFTER] },
} as const;

// Pure: the pay page leaves it out, which hashes nothing.
const HASHES = /* @__PURE__ */ hashTypes();

function hashTypes() {
  const { TokenPermissions } = PERMIT_TYPES;
  const { exact, upto } = PERMIT2_TYPES;
  return {
    domain: hashText('EIP712Domain(string name,uint256 chainId,address verifyingContract)'),
    domainName: hashText('Permit2'),
    token: hashText(renderTypes({ TokenPermissions })),
    permit: { exact: hashText(renderTypes(exact)), upto: hashText(renderTypes(upto)) },
    witness: {
      exact: hashText(renderTypes({ Witness: exact.Witness })),
      upto: hashText(renderTypes({ Witness: upto.Witness })),
    },
  };
}

/** Permit2's domain separator on a chain (EIP-712): the same for every permit there, so hash it once. */
export function hashPermit2Domain(chainId: number): Hex {
  return `0x${hashWords(HASHES.domain, HASHES.domainName, wordOfNumber(chainId), wordOfAddress(PERMIT2_ADDRESS))}`;
}

/**
 * What the payer of a Permit2 transfer signs: the EIP-712 hash of `PermitWitnessTransferFrom` with the witness of its
 * scheme, under `hashPermit2Domain`. The transfer must come from `parseSignedPayment`.
 */
export function hashPermit2Transfer(transfer: Permit2Transfer, domainSeparator: Hex): Hex {
  const { scheme, permit2Authorization } = transfer;
  const { permitted, spender, nonce, deadline } = permit2Authorization;
  const structHash = hashWords(
    HASHES.permit[scheme],
    hashWords(HASHES.token, wordOfAddress(permitted.token), wordOfNumber(permitted.amount)),
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
  return hashWords(HASHES.witness[scheme], wordOfAddress(to), ...own, wordOfNumber(validAfter));
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
