import type { PaymentPolicy } from '@tollgate/config';
import {
  AUTHENTICATION_START,
  caip2Of,
  createSignInOffer,
  encodeChargeRequest,
  methodOfScheme,
  PAYMENT_AUTHORIZATION,
  PAYMENT_IDENTIFIER,
  PAYMENT_IDENTIFIER_EXTENSION,
  PAYMENT_REQUIRED,
  renderAuthenticationEnd,
  SIGN_IN_EXTENSION,
  type Hex,
  type PaymentRequiredV2,
  type RequirementV2,
} from '@tollgate/protocol';

import { cutAtMarks, markOf, toUtf8Json, type ChallengeFacts } from './challenge-template.js';
import type { PublicOrigin } from './public-origin.js';
import type { SignInParts } from './sign-in-nonces.js';

const URL_MARK = markOf('url');
/** One of each text of the MPP `request`. */
const FORMS = [true, false].flatMap((takesAuthorizations) =>
  (['transfer', 'bound'] as const).map((policy) => ({ policy, takesAuthorizations })),
);

/** `assetName` and `assetVersion` are the token's EIP-712 domain. */
export interface OfferFacts extends Omit<ChallengeFacts, 'network'> {
  readonly chainId: number;
  readonly assetDecimals: number;
  readonly policy: PaymentPolicy;
  /** The relayer account that payers of a metered route name as the settler; null while there is none. */
  readonly readRelayer?: () => Hex | null;
  /** Whether payers may return without paying again, by signing in. */
  readonly isRevisited?: boolean;
  /** Whether the upstream gets the client's own `Authorization`. */
  readonly passCredentials?: boolean | undefined;
  /** False where the token would refuse every EIP-3009 authorization. */
  readonly takesAuthorizations?: boolean;
}

export interface OfferParts {
  readonly origin: PublicOrigin;
  readonly resource: string;
  readonly reference: string;
  readonly issuedAtMs: number;
  /** The sign-in parts, on a route that may be revisited. */
  readonly signIn?: SignInParts | undefined;
  /** Why a payment was refused, as an x402 v2 reason. */
  readonly error?: string | undefined;
}

/** The parts that are the same for every challenge of one resource at one origin. */
interface OfferLead {
  readonly origin: PublicOrigin;
  readonly resource: string;
  /** Base64 of the x402 v2 payment requirements up to the reference. */
  readonly required: string;
  /** The MPP challenge, from after its id up to its expiry. */
  readonly authentication: string;
}

/**
 * The headers of a 402 that offer a route to clients that sign their payments (x402 v2 and MPP). Everything but the
 * reference, the resource's URL and the time is rendered once.
 */
export class OfferTemplate {
  readonly #start: string;
  readonly #middle: string;
  /** Lacks the closing brace: an error may still follow. */
  readonly #end: string;
  /** Base64 of the end without its first n characters, for n = 0, 1, 2. */
  readonly #endings: readonly string[];
  /** The MPP `request`, which is the same for every challenge at this price. */
  readonly #chargeRequest: string;
  readonly #maxTimeoutMs: number;
  #lead: OfferLead | null = null;
  #expiry = { issuedAtMs: 0, text: '' };
  #varying: { readonly relayer: Hex | null; readonly template: RequiredTemplate } | null = null;

  constructor(private readonly facts: OfferFacts) {
    const [start = '', , middle = '', , end = ''] = cutAtMarks(toUtf8Json(createOffer(facts)));
    this.#start = start;
    this.#middle = `${middle}"`;
    this.#end = `"${end}`;
    this.#endings = [0, 1, 2].map((taken) => btoa(`${this.#end.slice(taken)}}`));
    this.#chargeRequest = createChargeRequest(facts);
    this.#maxTimeoutMs = facts.maxTimeoutSeconds * 1000;
  }

  /** Alternating names and values. */
  render(parts: OfferParts): string[] {
    const { origin, resource, reference, issuedAtMs, error } = parts;
    const relayer = this.facts.readRelayer?.() ?? null;
    const lead = this.#leadOf(origin, resource);
    const headers: string[] = [];
    if (takesAuthorizations(this.facts) || relayer !== null) {
      const required = this.#renderVarying(parts, relayer) ?? lead.required + this.#encodeRest(reference, error);
      headers.push(PAYMENT_REQUIRED, required);
    }
    if (credentialTypesOf(this.facts).length > 0) {
      const authentication = `${AUTHENTICATION_START}${reference}${lead.authentication}${this.expiresAt(issuedAtMs)}"`;
      headers.push('WWW-Authenticate', authentication);
    }
    return headers;
  }

  /** The x402 v2 header of an offer in which more than the reference varies; null for a plain offer. */
  #renderVarying({ origin, resource, reference, signIn, error }: OfferParts, relayer: Hex | null): string | null {
    if (relayer === null && signIn === undefined) return null;
    if (this.#varying?.relayer !== relayer) {
      this.#varying = { relayer, template: new RequiredTemplate(createVaryingOffer(this.facts, relayer)) };
    }
    const values = { url: origin.url + resource, domain: origin.host, reference, ...signIn };
    return this.#varying.template.render(values, error);
  }

  #leadOf(origin: PublicOrigin, resource: string): OfferLead {
    if (this.#lead?.origin === origin && this.#lead.resource === resource) return this.#lead;
    const text = this.#start + toUtf8Json(origin.url + resource) + this.#middle;
    this.#lead = {
      origin,
      resource,
      // Leading spaces are ignored in JSON, and base64 of whole triples can be continued.
      required: btoa(text.padStart(Math.ceil(text.length / 3) * 3)),
      authentication: renderAuthenticationEnd({
        realm: origin.host,
        request: this.#chargeRequest,
        header: this.facts.passCredentials === true ? PAYMENT_AUTHORIZATION : undefined,
      }),
    };
    return this.#lead;
  }

  /** Base64 of the reference and what follows; encodes only the triples that differ from challenge to challenge. */
  #encodeRest(reference: string, error: string | undefined): string {
    if (error !== undefined) return btoa(`${reference}${this.#end},"error":${toUtf8Json(error)}}`);
    const taken = (3 - (reference.length % 3)) % 3;
    return btoa(reference + this.#end.slice(0, taken)) + (this.#endings[taken] ?? '');
  }

  /** Whether this is the MPP `request` of a challenge issued at this price, whatever it offered. */
  isChargeRequest(request: string, priceBaseUnits: bigint): boolean {
    if (request === this.#chargeRequest) return priceBaseUnits === this.facts.priceBaseUnits;
    const facts = { ...this.facts, priceBaseUnits };
    return FORMS.some((form) => request === createChargeRequest({ ...facts, ...form }));
  }

  /** The MPP `expires` of a challenge issued at that time. */
  expiresAt(issuedAtMs: number): string {
    if (this.#expiry.issuedAtMs !== issuedAtMs) {
      this.#expiry = { issuedAtMs, text: new Date(issuedAtMs + this.#maxTimeoutMs).toISOString() };
    }
    return this.#expiry.text;
  }
}

const takesAuthorizations = (facts: OfferFacts): boolean => facts.takesAuthorizations !== false;

/** Policy `bound` offers MPP no transactions: its clients lock none, and its credential has no signature. */
function credentialTypesOf(facts: OfferFacts): ('authorization' | 'hash')[] {
  return [
    ...(takesAuthorizations(facts) ? (['authorization'] as const) : []),
    ...(facts.policy === 'bound' ? [] : (['hash'] as const)),
  ];
}

function createChargeRequest(facts: OfferFacts): string {
  const { priceBaseUnits, asset, payTo, chainId, assetDecimals: decimals } = facts;
  const terms = { amount: priceBaseUnits.toString(), asset, payTo, chainId, decimals };
  return encodeChargeRequest({ ...terms, credentialTypes: credentialTypesOf(facts) });
}

function createOffer(facts: OfferFacts): PaymentRequiredV2 & { accepts: readonly [RequirementV2] } {
  return {
    x402Version: 2,
    resource: { url: URL_MARK, description: facts.description, mimeType: facts.mimeType },
    accepts: [
      {
        scheme: 'exact',
        network: caip2Of(facts.chainId),
        amount: facts.priceBaseUnits.toString(),
        asset: facts.asset,
        payTo: facts.payTo,
        maxTimeoutSeconds: facts.maxTimeoutSeconds,
        extra: { name: facts.assetName, version: facts.assetVersion, reference: markOf('reference') },
      },
    ],
    extensions: { [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_EXTENSION },
  };
}

function createVaryingOffer(facts: OfferFacts, relayer: Hex | null): PaymentRequiredV2 {
  const { accepts, extensions, ...offer } = createOffer(facts);
  const metered = relayer === null ? [] : accepts.map((option) => createMeteredOption(option, relayer));
  const asked = {
    domain: markOf('domain'),
    uri: URL_MARK,
    network: caip2Of(facts.chainId),
    nonce: markOf('nonce'),
    issuedAt: markOf('issuedAt'),
    expirationTime: markOf('expirationTime'),
  };
  const signIn = facts.isRevisited === true ? { [SIGN_IN_EXTENSION]: createSignInOffer(asked) } : {};
  const exact = takesAuthorizations(facts) ? accepts : [];
  return { ...offer, accepts: [...exact, ...metered], extensions: { ...extensions, ...signIn } };
}

/**
 * The payment requirements of scheme `upto` (x402 v2), offered beside those of `exact`: the client signs the price as a maximum,
 * which only the named relayer may settle.
 */
export function createMeteredOption(exact: RequirementV2, relayer: Hex): RequirementV2 {
  const assetTransferMethod = methodOfScheme('upto')?.transferMethod;
  const extra = { ...exact.extra, assetTransferMethod, facilitatorAddress: relayer };
  return { ...exact, scheme: 'upto', extra };
}

/**
 * The payment-required header of an offer with several marks: its text is rendered once and assembled for each
 * challenge.
 */
class RequiredTemplate {
  /** As `cutAtMarks` gives them. */
  readonly #pieces: readonly string[];

  constructor(offer: PaymentRequiredV2) {
    this.#pieces = cutAtMarks(toUtf8Json(offer));
  }

  /** @param values one for every mark */
  render(values: Readonly<Record<string, string>>, error: string | undefined): string {
    let text = '';
    for (const [at, piece] of this.#pieces.entries()) {
      text += at % 2 === 0 ? piece : toUtf8Json(values[piece] ?? '');
    }
    return btoa(error === undefined ? `${text}}` : `${text},"error":${toUtf8Json(error)}}`);
  }
}
