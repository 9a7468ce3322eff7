import { hash } from 'node:crypto';

import { ShortMemory } from '../rpc/short-memory.js';
import type { ContractSignature } from './contract-signature.js';

/** Short, because a wallet's owner may approve a signature that the wallet refused a moment ago. */
const REMEMBERED_MS = 5_000;
const MAX_REMEMBERED = 4096;

/** A short name for one contract's signature. */
export function nameSignature({ signer, hash: signed, signature }: ContractSignature): string {
  return hash('sha256', `${signer} ${signed} ${signature}`, 'base64url');
}

/** Signatures that contracts refused a moment ago, so that they are not asked again at once. */
export class RefusedSignatures {
  readonly counts = { signature_refused_again: 0 };
  readonly #known: ShortMemory<true>;

  constructor(nowMs: () => number) {
    this.#known = new ShortMemory({ rememberedMs: REMEMBERED_MS, maxRemembered: MAX_REMEMBERED, nowMs });
  }

  include(signed: ContractSignature): boolean {
    const isKnown = this.#known.find(nameSignature(signed)) !== null;
    if (isKnown) this.counts.signature_refused_again++;
    return isKnown;
  }

  remember(signed: ContractSignature): void {
    this.#known.keep(nameSignature(signed), true);
  }
}
