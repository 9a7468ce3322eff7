import {
  AUTHENTICATION_START,
  caip2Of,
  createSignInOffer,
  encodeChargeRequest,
  listSignedMethods,
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

import { cutObjectAtMarks, markOf, toUtf8Json, type ChallengeFacts } from './challenge-template.js';
import type { PublicOrigin } from './public-origin.js';
import type { SignInParts } from './sign-in-nonces.js';

const URL_MARK = markOf('url');
/** The head of a 402 has a bound, and MPP has a header for each option. */
const MPP_OPTIONS = 2;
/** The method whose payments MPP has as credentials of type `authorization`. */
const CHARGED = listSignedMethods().find(({ payloadField }) => payloadField === 'authorization')?.transferMethod;
/** One of each text of an option's MPP `request`. */
const FORMS = [CHARGED ?? null, null].flatMap((exact) =>
  [true, false].map((takesTransactions) => ({ exact, takesTransactions })),
);

/** One option as it is offered at one price. `assetName` and `assetVersion` are the token's EIP-712 domain. */
export interface OfferedFacts extends Omit<
  ChallengeFacts,
  'network' | 'description' | 'mimeType' | 'maxTimeoutSeconds'
> {
  readonly chainId: number;
  readonly assetDecimals: number;
  /** The `assetTransferMethod` by which scheme `exact` is signed; null: it is not offered. */
  readonly exact: string | null;
  /** Whether MPP clients may send the transaction themselves. */
  readonly takesTransactions: boolean;
  /** The relayer account that payers of a metered route name as the settler; null: scheme `upto` is not offered. */
  readonly relayer: Hex | null;
}

/** What one route offers, while nothing of it changes. */
export interface OfferFacts extends Pick<ChallengeFacts, 'description' | 'mimeType' | 'maxTimeoutSeconds'> {
  /** In the seller's order. */
  readonly options: readonly OfferedFacts[];
  /** The chains on whose accounts payers may return without paying again, by signing in; empty: on none. */
  readonly signInChainIds: readonly number[];
  /** Whether the upstream gets the client's own `Authorization`. */
  readonly passCredentials: boolean;
}

export interface OfferParts {
  readonly origin: PublicOrigin;
  readonly resource: string;
  /** One for each option. */
  readonly references: readonly string[];
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
  /** Base64 of the x402 v2 payment requirements up to the first reference. */
  readonly required: string;
  /** For each MPP challenge what follows its id, up to its expiry. */
  readonly authentications: readonly string[];
}

/**
 * The headers of a 402 that offer a route to clients that sign their payments (x402 v2 and MPP). Everything but the
 * references, the resource's URL and the time is rendered once.
 */
export class OfferTemplate {
  /** Null where nothing can be signed. */
  readonly #required: RequiredTemplate | null;
  /** The MPP `request` of each option that has one, and the option's place. */
  readonly #charges: readonly { readonly at: number; readonly request: string }[];
  #lead: OfferLead | null = null;
  #expiry = { issuedAtMs: 0, text: '' };

  constructor(private readonly facts: OfferFacts) {
    const offer = createOffer(facts);
    this.#required = offer.accepts.length === 0 ? null : new RequiredTemplate(offer);
    const charges = facts.options.map((option, at) => ({ at, request: createChargeRequest(option) }));
    this.#charges = charges
      .slice(0, MPP_OPTIONS)
      .flatMap(({ at, request }) => (request === null ? [] : { at, request }));
  }

  /** Alternating names and values. */
  render({ origin, resource, references, issuedAtMs, signIn, error }: OfferParts): string[] {
    const lead = this.#leadOf(origin, resource);
    const headers: string[] = [];
    if (this.#required !== null) {
      const parts = { references, host: origin.host, url: origin.url + resource, signIn };
      headers.push(PAYMENT_REQUIRED, lead.required + this.#required.encodeRest(parts, error));
    }
    for (const [index, { at }] of this.#charges.entries()) {
      const end = `${lead.authentications[index]}${this.#expiresAt(issuedAtMs)}"`;
      headers.push('WWW-Authenticate', AUTHENTICATION_START + references[at] + end);
    }
    return headers;
  }

  #leadOf(origin: PublicOrigin, resource: string): OfferLead {
    if (this.#lead?.origin === origin && this.#lead.resource === resource) return this.#lead;
    const header = this.facts.passCredentials ? PAYMENT_AUTHORIZATION : undefined;
    this.#lead = {
      origin,
      resource,
      required: this.#required?.encodeStart(origin.url + resource) ?? '',
      authentications: this.#charges.map(({ request }) =>
        renderAuthenticationEnd({ realm: origin.host, request, header }),
      ),
    };
    return this.#lead;
  }

  #expiresAt(issuedAtMs: number): string {
    if (this.#expiry.issuedAtMs !== issuedAtMs) {
      this.#expiry = { issuedAtMs, text: expiryOf(issuedAtMs, this.facts.maxTimeoutSeconds) };
    }
    return this.#expiry.text;
  }
}

/** The MPP `expires` of a challenge issued at that time. */
export function expiryOf(issuedAtMs: number, maxTimeoutSeconds: number): string {
  return new Date(issuedAtMs + maxTimeoutSeconds * 1000).toISOString();
}

/** Each MPP `request` that a challenge for this option at this price may have had, whatever was offered by then. */
export function listChargeRequests(option: OfferedFacts, priceBaseUnits: bigint): (string | null)[] {
  return FORMS.map((form) => createChargeRequest({ ...option, ...form, priceBaseUnits }));
}

/** Policy `bound` takes no transactions: MPP clients lock none, and their credential has no signature. */
function createChargeRequest(option: OfferedFacts): string | null {
  const { priceBaseUnits, asset, payTo, chainId, assetDecimals: decimals } = option;
  const credentialTypes = [
    ...(option.exact === CHARGED ? (['authorization'] as const) : []),
    ...(option.takesTransactions ? (['hash'] as const) : []),
  ];
  if (credentialTypes.length === 0) return null;
  return encodeChargeRequest({ amount: priceBaseUnits.toString(), asset, payTo, chainId, decimals, credentialTypes });
}

function createOffer(facts: OfferFacts): PaymentRequiredV2 {
  const { options, maxTimeoutSeconds, signInChainIds } = facts;
  const asked = {
    domain: markOf('domain'),
    uri: URL_MARK,
    nonce: markOf('nonce'),
    issuedAt: markOf('issuedAt'),
    expirationTime: markOf('expirationTime'),
  };
  const signIn = signInChainIds.length > 0 && {
    [SIGN_IN_EXTENSION]: createSignInOffer(asked, signInChainIds.map(caip2Of)),
  };
  const marked = options.map((option, at) => ({ option, reference: markOf(`reference${at}`) }));
  return {
    x402Version: 2,
    resource: { url: URL_MARK, description: facts.description, mimeType: facts.mimeType },
    accepts: [
      ...marked.flatMap(({ option, reference }) => createExactOption(option, { maxTimeoutSeconds, reference }) ?? []),
      ...marked.flatMap(({ option, reference }) => createMeteredOption(option, { maxTimeoutSeconds, reference }) ?? []),
    ],
    extensions: { [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_EXTENSION, ...signIn },
  };
}

interface RequirementParts {
  readonly maxTimeoutSeconds: number;
  /** Absent where an offer is listed, not made. */
  readonly reference?: string;
}

/** The payment requirements of scheme `exact` (x402 v2); null where it is not offered. */
export function createExactOption(option: OfferedFacts, parts: RequirementParts): RequirementV2 | null {
  const method = listSignedMethods().find(({ transferMethod }) => transferMethod === option.exact);
  if (method === undefined) return null;
  // Clients take the usual method of a scheme where none is named.
  const named = method === methodOfScheme('exact') ? {} : { assetTransferMethod: method.transferMethod };
  return createRequirement('exact', option, parts, { ...named, ...method.offered });
}

/**
 * The payment requirements of scheme `upto` (x402 v2), offered beside those of `exact`: the client signs the price as a
 * maximum, which only the named relayer may settle. Null where it is not offered.
 */
export function createMeteredOption(option: OfferedFacts, parts: RequirementParts): RequirementV2 | null {
  const assetTransferMethod = methodOfScheme('upto')?.transferMethod;
  const signed = { assetTransferMethod, facilitatorAddress: option.relayer };
  return option.relayer && createRequirement('upto', option, parts, signed);
}

function createRequirement(
  scheme: 'exact' | 'upto',
  { chainId, priceBaseUnits, asset, payTo, assetName: name, assetVersion: version }: OfferedFacts,
  { maxTimeoutSeconds, reference }: RequirementParts,
  signed: Record<string, unknown>,
): RequirementV2 {
  const extra = { name, version, ...(reference !== undefined && { reference }), ...signed };
  return {
    scheme,
    network: caip2Of(chainId),
    amount: priceBaseUnits.toString(),
    asset,
    payTo,
    maxTimeoutSeconds,
    extra,
  };
}

interface RequiredParts {
  readonly url: string;
  readonly host: string;
  readonly references: readonly string[];
  readonly signIn?: SignInParts | undefined;
}

/** A mark, and the text from there to the next one: base64 of its whole triples without its first n characters, n = 0, 1, 2. */
interface Piece {
  readonly mark: string;
  readonly text: string;
  readonly after: readonly { readonly encoded: string; readonly left: string }[];
}

/**
 * The payment-required header of an offer: its text is rendered once, up to the first reference for each resource, and
 * assembled for each challenge. Only the triples around what varies are encoded then.
 */
class RequiredTemplate {
  readonly #start: string;
  /** Up to the first reference. */
  readonly #middle: string;
  /** From the first reference on. The last one lacks the closing brace, since an error may still follow. */
  readonly #pieces: readonly Piece[];

  constructor(offer: PaymentRequiredV2) {
    const [start = '', , middle = '', ...rest] = cutObjectAtMarks(toUtf8Json(offer));
    this.#start = start;
    this.#middle = middle;
    const pieces: Piece[] = [];
    for (let at = 0; at + 1 < rest.length; at += 2) pieces.push(createPiece(rest[at] ?? '', rest[at + 1] ?? ''));
    this.#pieces = pieces;
  }

  /** Leading spaces are ignored in JSON, and base64 of whole triples can be continued. */
  encodeStart(url: string): string {
    const text = this.#start + toUtf8Json(url) + this.#middle;
    return btoa(text.padStart(Math.ceil(text.length / 3) * 3));
  }

  /** Base64 of the first reference and what follows. */
  encodeRest(parts: RequiredParts, error: string | undefined): string {
    let encoded = '';
    let left = '';
    for (const { mark, text, after } of this.#pieces) {
      const head = left + jsonOf(mark, parts);
      const taken = (3 - (head.length % 3)) % 3;
      const next = after[taken];
      encoded += btoa(head + text.slice(0, taken)) + (next?.encoded ?? '');
      left = next?.left ?? '';
    }
    return encoded + btoa(error === undefined ? `${left}}` : `${left},"error":${toUtf8Json(error)}}`);
  }
}

/** @param text has at least two characters: a quotation mark and a brace follow every value */
function createPiece(mark: string, text: string): Piece {
  const after = [0, 1, 2].map((taken) => {
    const whole = text.length - ((text.length - taken) % 3);
    return { encoded: btoa(text.slice(taken, whole)), left: text.slice(whole) };
  });
  return { mark, text, after };
}

/** The value of a mark as JSON. A reference needs no escapes. */
function jsonOf(mark: string, { url, host, references, signIn }: RequiredParts): string {
  if (mark.startsWith('reference')) return `"${references[Number(mark.slice('reference'.length))] ?? ''}"`;
  if (mark === 'url') return toUtf8Json(url);
  return toUtf8Json(mark === 'domain' ? host : (signIn?.[mark as keyof SignInParts] ?? ''));
}
