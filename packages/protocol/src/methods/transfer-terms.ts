import type { Hex } from '../wire/hex.js';

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

/** The validity of a signature made now, in Unix seconds as decimal text. */
export function createValidity(terms: SignedTransferTerms): { validAfter: string; validBefore: string } {
  const { maxTimeoutSeconds, endSeconds } = terms;
  const nowSeconds = Math.floor(Date.now() / 1000);
  return {
    validAfter: String(nowSeconds - CLOCK_SLACK_SECONDS),
    validBefore: String(Math.min(nowSeconds + Math.min(maxTimeoutSeconds, LONGEST_SECONDS), endSeconds ?? Infinity)),
  };
}
