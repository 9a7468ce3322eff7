import { recoverAccount } from '@tollgate/crypto';
import { lowerHex, type Hex } from '@tollgate/protocol';
import { parseErc6492Signature } from 'viem';

import type { ContractCall } from './contract-question.js';
import { allowDeployment, type Deployment, type WalletFactories } from './wallet-factories.js';

/** The form in which a payer's signature goes to the token, found without asking the chain. */
export type PayerSignature =
  /** Made with the payer's own key; `v` is 27 or 28. */
  | { kind: 'account'; v: number; r: Hex; s: Hex }
  /**
   * To be checked by the payer's contract. `isWrapped`: it came with a call that deploys the contract (EIP-6492);
   * `deployment` is that call where it is allowed.
   */
  | { kind: 'contract'; bytes: Hex; isWrapped: boolean; deployment: Deployment | null };

const ACCOUNT_SIGNATURE_LENGTH = 2 + 65 * 2;
/** Half the order of secp256k1. Every signature has a twin with `s` in the upper half; tokens refuse that one. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Reads a payer's signature over a hash. A signature made with the payer's key counts as an account's even where the
 * payer has code (EIP-7702): tokens differ in whether the key or the code decides, so the call is simulated against the
 * token before it is sent.
 * @param factories contracts that may be called to deploy a wallet
 */
export function readPayerSignature(
  signature: Hex,
  { hash, payer, factories }: { hash: Hex; payer: Hex; factories: WalletFactories },
): PayerSignature {
  if (recoverAccount(hash, signature) === payer) {
    const parts = splitSignature(signature);
    if (parts) return parts;
  }
  const wrapped = unwrapSignature(signature);
  if (wrapped === null) return { kind: 'contract', bytes: signature, isWrapped: false, deployment: null };
  const { bytes, deployment } = wrapped;
  return { kind: 'contract', bytes, isWrapped: true, deployment: allowDeployment(deployment, factories) };
}

/**
 * Splits a signature into the parts that tokens take from an account; null for any other signature. Does not check the
 * signer.
 */
export function splitSignature(signature: Hex): Extract<PayerSignature, { kind: 'account' }> | null {
  if (signature.length !== ACCOUNT_SIGNATURE_LENGTH) return null;
  const [r, s]: [Hex, Hex] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`];
  const last = Number.parseInt(signature.slice(130), 16);
  // Some wallets write the bare recovery bit (0 or 1), which tokens do not accept.
  return BigInt(s) <= HALF_ORDER ? { kind: 'account', v: last < 27 ? last + 27 : last, r, s } : null;
}

/** Unwraps a signature of a wallet that may not be deployed yet (EIP-6492); null when it is not wrapped. */
export function unwrapSignature(signature: Hex): { bytes: Hex; deployment: ContractCall } | null {
  try {
    const { address, data, signature: bytes } = parseErc6492Signature(signature);
    return address === undefined ? null : { bytes, deployment: { to: lowerHex(address), data } };
  } catch {
    // Too short for the wrapper's mark, or marked but not a wrapper. The payer's contract may still accept it.
    return null;
  }
}

/** The call that deploys the payer if it has no code yet; null when the payer must already have code or use its own key. */
export function deploymentOf(signature: PayerSignature): Deployment | null {
  return signature.kind === 'contract' ? signature.deployment : null;
}
