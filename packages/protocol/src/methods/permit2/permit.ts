import type { Hex } from '../../wire/hex.js';
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

/** Permit2, at the same address on every chain that has it. In lower case, like the proxies below. */
export const PERMIT2_ADDRESS: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3';
/** The contract that settles permits of scheme `exact`: the whole permitted amount, to the signed recipient. */
export const EXACT_PROXY_ADDRESS: Hex = '0x402085c248eea27d92e8b30b2c58ed07f9e20001';
/** The contract that settles permits of scheme `upto`: at most the permitted amount, sent by the signed facilitator. */
export const UPTO_PROXY_ADDRESS: Hex = '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002';

/**
 * The terms of a Permit2 `permitWitnessTransferFrom` as its payer signed it for a proxy. Amounts are base units, times
 * seconds, as decimal text.
 */
export interface Permit2Authorization {
  from: Hex;
  /** The most that may be moved; under scheme `exact` the amount that is moved. */
  permitted: { token: Hex; amount: string };
  /** The proxy, the only contract from which Permit2 accepts the permit. */
  spender: Hex;
  /** A 256-bit number that Permit2 accepts once per payer, in any order. */
  nonce: string;
  deadline: string;
  /** What the proxy enforces: the recipient, and the start of validity. */
  witness: { to: Hex; validAfter: string };
}

/** A permit of scheme `upto`, whose witness also names the only account that may send it. */
export interface MeteredPermit2Authorization extends Permit2Authorization {
  witness: Permit2Authorization['witness'] & { facilitator: Hex };
}

/** A Permit2 transfer by its scheme: of the whole permitted amount, or of what was used. */
export type Permit2Transfer =
  | { scheme: 'exact'; permit2Authorization: Permit2Authorization }
  | { scheme: 'upto'; permit2Authorization: MeteredPermit2Authorization };

/**
 * A signed Permit2 transfer; its signature has 65 bytes from an account, any other length from a contract (EIP-1271).
 */
export type SignedPermit = { kind: 'permit2'; signature: Hex } & Permit2Transfer;

/** The Permit2 transfer for a payer to sign: of scheme `upto` where a facilitator is given, which alone may settle it. */
export function createPermit2Transfer(terms: SignedTransferTerms, facilitator: Hex | null): Permit2Transfer {
  const { from, payTo: to, asset: token, amount } = terms;
  const { validAfter, validBefore: deadline } = createValidity(terms);
  const permit = { from, permitted: { token, amount }, nonce: BigInt(terms.nonce).toString(), deadline };
  const witness = { to, validAfter };
  // Settlement goes through one of these contracts, which pay only the recipient in the witness.
  if (facilitator === null)
    return { scheme: 'exact', permit2Authorization: { ...permit, spender: EXACT_PROXY_ADDRESS, witness } };
  const metered = { ...permit, spender: UPTO_PROXY_ADDRESS, witness: { ...witness, facilitator } };
  return { scheme: 'upto', permit2Authorization: metered };
}

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

const separators = new Map<number, Hex>();

/** Permit2's domain separator on a chain (EIP-712): the same for every permit there. */
export function hashPermit2Domain(chainId: number): Hex {
  let separator = separators.get(chainId);
  if (separator === undefined) {
    separator = `0x${hashWords(HASHES.domain, HASHES.domainName, wordOfNumber(chainId), wordOfAddress(PERMIT2_ADDRESS))}`;
    separators.set(chainId, separator);
  }
  return separator;
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
