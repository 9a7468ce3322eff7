import {
  challengeErrorFor,
  createReference,
  facilitatorReasonFor,
  signInReasonFor,
  verifyReference,
  type ChallengeError,
  type MethodReasons,
  type PaymentFailure,
  type SignInFailure,
} from '@tollgate/protocol';

import { createHmacSha256 } from './hmac-sha256.js';
import { createNoncePool } from './nonce-pool.js';
import type { PaidEndpoint } from './paid-endpoint.js';
import type { PublicOrigin } from './public-origin.js';
import { createSignInParts, SignInNonces } from './sign-in-nonces.js';
import type { SoldOption } from './sold-option.js';

export interface AuthenticReference {
  readonly text: string;
  readonly issuedAtMs: number;
  readonly priceBaseUnits: bigint;
}

/** The route of a request, and the URL at which the client requested it. */
export interface ChallengedRequest {
  readonly endpoint: PaidEndpoint;
  readonly method: string;
  readonly resource: string;
  readonly origin: PublicOrigin;
}

export interface RenderedChallenge {
  /** Contains ASCII characters only. */
  readonly body: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** What is offered, in the seller's order: the body is for the first. */
  readonly offered: readonly SoldOption[];
  /** One for each. */
  readonly references: readonly string[];
}

const NO_HEADERS: readonly string[] = [];

/** Issues challenges and authenticates their references. It stores neither. */
export class Challenges {
  readonly #secrets: readonly Uint8Array[];
  readonly #signingSecret: Uint8Array;
  readonly #hmac = createHmacSha256();
  readonly #nextNonce = createNoncePool();
  readonly #nonces: SignInNonces;

  /** The first secret signs; references signed with the others are still accepted. */
  constructor(secrets: readonly string[]) {
    this.#nonces = new SignInNonces(secrets);
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
    const [signingSecret] = this.#secrets;
    if (signingSecret === undefined) throw new TypeError('There is no secret to sign references with.');
    this.#signingSecret = signingSecret;
  }

  /**
   * The 402 for one request, with references of its own; null while no option can be judged, so that none is offered.
   *
   * @param failure why the request's payment was refused
   */
  render(
    { endpoint, method, resource, origin }: ChallengedRequest,
    failure?: PaymentFailure,
    reasons?: MethodReasons,
  ): RenderedChallenge | null {
    const error = failure === undefined ? undefined : challengeErrorFor(failure);
    const reason = failure === undefined ? undefined : facilitatorReasonFor(failure, 2, reasons);
    return this.#render({ endpoint, method, resource, origin }, error, reason);
  }

  /** The challenge of an unpaid request whose sign-in was refused; x402 v2 clients are given the reason. */
  renderVisit(request: ChallengedRequest, failure: SignInFailure): RenderedChallenge | null {
    return this.#render(request, undefined, signInReasonFor(failure));
  }

  #render(
    { endpoint, method, resource, origin }: ChallengedRequest,
    error: ChallengeError | undefined,
    reason: string | undefined,
  ): RenderedChallenge | null {
    const { options: offered, template } = endpoint.offer;
    const [first] = offered;
    if (first === undefined) return null;
    const issuedAtMs = Date.now();
    const references = offered.map((option) =>
      createReference({
        terms: option.termsOf(method, resource),
        priceBaseUnits: option.priceBaseUnits,
        nowMs: issuedAtMs,
        nonce: this.#nextNonce(),
        secret: this.#signingSecret,
        hmac: this.#hmac,
      }),
    );
    const body = first.renderStart(resource) + (references[0] ?? '') + first.template.renderEnd(error);
    if (template === null) return { body, headers: NO_HEADERS, offered, references };
    const signIn = endpoint.isRevisited
      ? createSignInParts(this.#nonces, origin.url + resource, issuedAtMs)
      : undefined;
    const headers = template.render({ origin, resource, references, issuedAtMs, signIn, error: reason });
    return { body, headers, offered, references };
  }

  /** Null for a reference that this gateway did not issue for this method, resource and option. */
  authenticate(option: SoldOption, method: string, resource: string, text: string): AuthenticReference | null {
    const terms = option.termsOf(method, resource);
    const found = verifyReference({ reference: text, terms, secrets: this.#secrets, hmac: this.#hmac });
    return found && { text, ...found };
  }
}
