import type { Hex } from '../../wire/hex.js';
import { ownField, type JsonRecord } from '../../wire/json-record.js';
import { parseAddressField, parseObjectField, parseUintField } from '../signed-fields.js';
import { createValidity, type SignedTransferTerms } from '../transfer-terms.js';

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

/**
 * Parses a `permit2Authorization`. Only a witness of scheme `upto` names a facilitator, so the witness determines the
 * scheme.
 * @throws PaymentError `malformed_proof` naming the first invalid field.
 */
export function parsePermit2Authorization(value: JsonRecord): Permit2Transfer {
  const permitted = parseObjectField(value, 'permitted');
  const witness = parseObjectField(value, 'witness');
  const permit2Authorization: Permit2Authorization = {
    from: parseAddressField(value, 'from'),
    permitted: { token: parseAddressField(permitted, 'token'), amount: parseUintField(permitted, 'amount') },
    spender: parseAddressField(value, 'spender'),
    // Clients use both notations.
    nonce: parseUintField(value, 'nonce', { orHex: true }),
    deadline: parseUintField(value, 'deadline'),
    witness: { to: parseAddressField(witness, 'to'), validAfter: parseUintField(witness, 'validAfter') },
  };
  if (ownField(witness, 'facilitator') === undefined) return { scheme: 'exact', permit2Authorization };
  const facilitator = parseAddressField(witness, 'facilitator');
  const metered = { ...permit2Authorization, witness: { ...permit2Authorization.witness, facilitator } };
  return { scheme: 'upto', permit2Authorization: metered };
}

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
