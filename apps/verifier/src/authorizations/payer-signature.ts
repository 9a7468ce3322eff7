import type { Hex } from '@tollgate/protocol';
import { parseErc6492Signature } from 'viem';

import { recoverAccount } from '../verification/recover-account.js';
import type { ContractCall } from './contract-call.js';

/** What a payer's signature is to the token, told without the chain. */
export type PayerSignature =
  /** By the payer's own key; `v` is 27 or 28. */
  | { kind: 'account'; v: number; r: Hex; s: Hex }
  /**
   * For the payer's contract to judge. `isWrapped`: it came with a call that deploys the contract (EIP-6492), which is
   * `deployment` where it may be made.
   */
  | { kind: 'contract'; bytes: Hex; isWrapped: boolean; deployment: ContractCall | null };

const ACCOUNT_SIGNATURE_LENGTH = 2 + 65 * 2;
/** Half of the order of secp256k1. Tokens refuse the upper half: each signature has a twin there. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Reads a payer's signature over a hash. A signature by the payer's key counts as one also where the payer has code
 * (EIP-7702): whether the key or the code decides then differs between tokens, and the token is asked before it is sent.
 * @param factories which deploying calls may be made, in lower case
 */
export async function readPayerSignature(
  signature: Hex,
  { hash, payer, factories }: { hash: Hex; payer: Hex; factories: ReadonlySet<Hex> },
): Promise<PayerSignature> {
  if ((await recoverAccount(hash, signature)) === payer) {
    const parts = splitSignature(signature);
    if (parts) return parts;
  }
  const wrapped = unwrapSignature(signature);
  if (wrapped === null) return { kind: 'contract', bytes: signature, isWrapped: false, deployment: null };
  const { bytes, deployment } = wrapped;
  const isAllowed = factories.has(deployment.to);
  return { kind: 'contract', bytes, isWrapped: true, deployment: isAllowed ? deployment : null };
}

/** The parts of a signature that tokens take from an account; null for all others. Whose it is was not looked at. */
export function splitSignature(signature: Hex): Extract<PayerSignature, { kind: 'account' }> | null {
  if (signature.length !== ACCOUNT_SIGNATURE_LENGTH) return null;
  const [r, s]: [Hex, Hex] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`];
  const last = Number.parseInt(signature.slice(130), 16);
  // Some wallets write the recovery bit itself, which tokens do not understand.
  return BigInt(s) <= HALF_ORDER ? { kind: 'account', v: last < 27 ? last + 27 : last, r, s } : null;
}

/** What is wrapped for a wallet that may not be deployed yet (EIP-6492); null for what is not wrapped. */
export function unwrapSignature(signature: Hex): { bytes: Hex; deployment: ContractCall } | null {
  try {
    const { address, data, signature: bytes } = parseErc6492Signature(signature);
    return address === undefined ? null : { bytes, deployment: { to: address.toLowerCase() as Hex, data } };
  } catch {
    // Shorter than the wrapper's mark, or marked and not a wrapper: the payer's contract may know what it is.
    return null;
  }
}
