import { isAddress, type Hex } from './hex.js';
import { ownField, type JsonRecord } from './json-record.js';
import { parseHexField, parseObjectField, parseUintField } from './signed-field.js';

/** Permit2, at the same address on every chain that has it. Lower case, as the proxies below. */
export const PERMIT2_ADDRESS: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3';
/** The contract that settles the permits of scheme `exact`: all that is permitted, to the signed recipient. */
export const EXACT_PROXY_ADDRESS: Hex = '0x402085c248eea27d92e8b30b2c58ed07f9e20001';
/** The contract that settles the permits of scheme `upto`: at most what is permitted, sent by the signed facilitator. */
export const UPTO_PROXY_ADDRESS: Hex = '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002';

/**
 * A Permit2 `permitWitnessTransferFrom` as its payer signed it for a proxy. Amounts are base units, times seconds, as
 * decimal text.
 */
export interface Permit2Authorization {
  from: Hex;
  /** What may be moved at most; under scheme `exact` what is moved. */
  permitted: { token: Hex; amount: string };
  /** The proxy: Permit2 takes the permit from nobody else. */
  spender: Hex;
  /** A number of 256 bits that Permit2 takes once per payer, in any order. */
  nonce: string;
  deadline: string;
  /** What the proxy is bound to: whom to pay, and since when. */
  witness: { to: Hex; validAfter: string };
}

/** The same for scheme `upto`, whose witness also names the one account that may send it. */
export interface MeteredPermit2Authorization extends Permit2Authorization {
  witness: Permit2Authorization['witness'] & { facilitator: Hex };
}

/** A Permit2 transfer by its scheme: of all that is permitted, or of as much of it as was used. */
export type Permit2Transfer =
  | { scheme: 'exact'; permit2Authorization: Permit2Authorization }
  | { scheme: 'upto'; permit2Authorization: MeteredPermit2Authorization };

/** A Permit2 transfer that its payer signed: 65 bytes of an account, any other length of a contract (EIP-1271). */
export type SignedPermit = { kind: 'permit2'; signature: Hex } & Permit2Transfer;

const parseAddress = (record: JsonRecord, name: string): Hex =>
  parseHexField(record, name, isAddress, 'a 20-byte address');

/**
 * Reads a `permit2Authorization`; its scheme is told by the witness, which alone under `upto` names a facilitator.
 * @throws PaymentError `malformed_proof` naming the first field that does not fit.
 */
export function parsePermit2Authorization(value: JsonRecord): Permit2Transfer {
  const permitted = parseObjectField(value, 'permitted');
  const witness = parseObjectField(value, 'witness');
  const permit2Authorization: Permit2Authorization = {
    from: parseAddress(value, 'from'),
    permitted: { token: parseAddress(permitted, 'token'), amount: parseUintField(permitted, 'amount') },
    spender: parseAddress(value, 'spender'),
    // Clients write it in either way.
    nonce: parseUintField(value, 'nonce', { orHex: true }),
    deadline: parseUintField(value, 'deadline'),
    witness: { to: parseAddress(witness, 'to'), validAfter: parseUintField(witness, 'validAfter') },
  };
  if (ownField(witness, 'facilitator') === undefined) return { scheme: 'exact', permit2Authorization };
  const facilitator = parseAddress(witness, 'facilitator');
  const metered = { ...permit2Authorization, witness: { ...permit2Authorization.witness, facilitator } };
  return { scheme: 'upto', permit2Authorization: metered };
}
