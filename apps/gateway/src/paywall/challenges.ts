import { createReference, verifyReference, type ChallengeError } from '@tollgate/protocol';

import { createHmacSha256 } from './hmac-sha256.js';
import { createNoncePool } from './nonce-pool.js';
import type { PaidEndpoint } from './paid-endpoint.js';

export interface AuthenticReference {
  readonly text: string;
  readonly issuedAtMs: number;
  readonly priceBaseUnits: bigint;
}

/** Gives out challenges and knows their references again; keeps nothing of either. */
export class Challenges {
  readonly #secrets: readonly Uint8Array[];
  readonly #signingSecret: Uint8Array;
  readonly #hmac = createHmacSha256();
  readonly #nextNonce = createNoncePool();

  /** The first secret signs; the others are still accepted. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
    const [signingSecret] = this.#secrets;
    if (signingSecret === undefined) throw new TypeError('There is no secret to sign references with.');
    this.#signingSecret = signingSecret;
  }

  /** The body of a 402, with a reference made for this one answer. ASCII. */
  render(endpoint: PaidEndpoint, method: string, resource: string, error?: ChallengeError): string {
    const reference = createReference({
      terms: endpoint.termsOf(method, resource),
      priceBaseUnits: endpoint.route.priceBaseUnits,
      nowMs: Date.now(),
      nonce: this.#nextNonce(),
      secret: this.#signingSecret,
      hmac: this.#hmac,
    });
    return endpoint.renderStart(resource) + reference + endpoint.template.renderEnd(error);
  }

  /** Null for a reference that was not given out here, for this method and resource. */
  authenticate(endpoint: PaidEndpoint, method: string, resource: string, text: string): AuthenticReference | null {
    const terms = endpoint.termsOf(method, resource);
    const found = verifyReference({ reference: text, terms, secrets: this.#secrets, hmac: this.#hmac });
    return found && { text, ...found };
  }
}
