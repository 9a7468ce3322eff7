import type { Hex } from '../wire/hex.js';
import {
  EXACT_PROXY_ADDRESS,
  UPTO_PROXY_ADDRESS,
  type Permit2Transfer,
  type TransferAuthorization,
} from './signed-payment.js';

/** Allows for a clock ahead of the chain's, with which a signature would not be valid yet. */
const CLOCK_SLACK_SECONDS = 600;
/** The longest validity of a signature, whatever the server asks for: during it the money may still be taken. */
const LONGEST_SECONDS = 3600;

/** What a signature that is made now pays. */
export interface SignedTransferTerms {
  from: Hex;
  payTo: Hex;
  asset: Hex;
  /** Base units, as decimal text. */
  amount: string;
  maxTimeoutSeconds: number;
  /** The last second in which it may be valid, in Unix time. */
  endSeconds?: number | null;
  /** 32 bytes: random, or the name of a challenge. */
  nonce: Hex;
}

/** The EIP-3009 authorization for a payer to sign. No tokens move until the server has it settled. */
export function createTransferAuthorization(terms: SignedTransferTerms): TransferAuthorization {
  const { from, payTo: to, amount: value, nonce } = terms;
  return { from, to, value, ...createValidity(terms), nonce };
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

/** The validity of a signature made now, in Unix seconds as decimal text. */
function createValidity(terms: SignedTransferTerms): { validAfter: string; validBefore: string } {
  const { maxTimeoutSeconds, endSeconds } = terms;
  const nowSeconds = Math.floor(Date.now() / 1000);
  return {
    validAfter: String(nowSeconds - CLOCK_SLACK_SECONDS),
    validBefore: String(Math.min(nowSeconds + Math.min(maxTimeoutSeconds, LONGEST_SECONDS), endSeconds ?? Infinity)),
  };
}
