import type { PaymentOption } from '@tollgate/config';
import { v1NetworkOf, type ReferenceTerms } from '@tollgate/protocol';

import type { GatewayEnvironment } from '../../config/gateway.config.js';
import type { OfferableOption } from '../../verifiers/judged-options.js';
import { acceptsOption } from '../route/options-of-route.js';
import { PaidPath } from '../route/paid-path.js';
import type { PaidRoute } from '../route/paid-route.js';
import { priceOf } from '../route/price-of.js';
import { ChallengeTemplate } from './challenge-template.js';
import type { RenderHtmlPage } from './html-page.js';
import { listChargeRequests, OfferTemplate, type OfferedFacts } from './offer-template.js';
import { publicOriginOf } from './public-origin.js';

/** The settings that decide the form of the gateway's challenges. */
export interface ChallengeSettings {
  readonly maxTimeoutSeconds: number;
  readonly takesTransactions: boolean;
  /**
   * The URL that precedes the resource's path in bodies for x402 v1 clients; null where bodies have the documented
   * form.
   */
  readonly v1ClientsUrl: string | null;
  /** Whether response headers offer to settle signed payments. */
  readonly signedPayments: boolean;
  readonly options: readonly OfferableOption[];
}

export function challengeSettingsOf(
  { challenge, payment, server }: GatewayEnvironment,
  options: readonly OfferableOption[],
): ChallengeSettings {
  const { challengeForm, signedPayments } = challenge;
  const isForV1Clients = challengeForm === 'v1-clients' && server.publicUrl !== undefined;
  const v1ClientsUrl = isForV1Clients ? publicOriginOf(server.publicUrl).url : null;
  const { maxTimeoutSeconds, paymentPolicy } = payment;
  return { maxTimeoutSeconds, takesTransactions: paymentPolicy !== 'bound', v1ClientsUrl, signedPayments, options };
}

/** What a route offers while nothing of it changes. */
export interface Offer {
  /** In the seller's order. */
  readonly options: readonly SoldOption[];
  /** Null where signed payments are not accepted. */
  readonly template: OfferTemplate | null;
}

/** A paid route prepared for requests: the constant parts of its challenges are rendered once. */
export class PaidEndpoint {
  readonly path: PaidPath;
  /** What the route may be paid in, offered or not. */
  readonly options: readonly SoldOption[];
  /** Whether a payer may return without paying again. */
  readonly isRevisited: boolean;
  #offer: { readonly offered: readonly OfferedFacts[]; readonly offer: Offer } | null = null;

  constructor(
    readonly route: PaidRoute,
    private readonly settings: ChallengeSettings,
    /** Renders the page that browsers get in place of the JSON of an unpaid GET; null where there is none. */
    readonly renderPage: RenderHtmlPage | null = null,
  ) {
    this.path = PaidPath.parse(route.path);
    this.isRevisited = (route.revisitSeconds ?? 0) > 0;
    const accepted = settings.options.filter(({ option }) => acceptsOption(route, option));
    this.options = accepted.map((judged) => new SoldOption(judged, { route, path: this.path, settings }));
  }

  /** The options that a verifier judges now. A payment of any other could not be verified. */
  get offer(): Offer {
    const offered: OfferedFacts[] = [];
    for (const option of this.options) {
      const facts = option.readOffered();
      if (facts !== null) offered.push(facts);
    }
    if (this.#offer !== null && isEqual(this.#offer.offered, offered)) return this.#offer.offer;
    const options = this.options.filter((option) => offered.some((facts) => option.hasOffered(facts)));
    const offer = { options, template: this.settings.signedPayments ? this.#createTemplate(offered) : null };
    this.#offer = { offered, offer };
    return offer;
  }

  /** The MPP `expires` of a challenge issued at that time. */
  expiresAt(issuedAtMs: number): string {
    return new Date(issuedAtMs + this.settings.maxTimeoutSeconds * 1000).toISOString();
  }

  /** The method whose challenge a HEAD gets. */
  get headMethod(): string {
    const { methods } = this.route;
    return methods.includes('GET') ? 'GET' : (methods[0] ?? 'GET');
  }

  /** The chains of its options. */
  get chainIds(): number[] {
    return [...new Set(this.options.map(({ judged }) => judged.option.chain.id))];
  }

  #createTemplate(options: readonly OfferedFacts[]): OfferTemplate {
    const { description, mimeType, passCredentials = false } = this.route;
    const { maxTimeoutSeconds } = this.settings;
    const signInChainIds = this.isRevisited ? this.chainIds : [];
    return new OfferTemplate({ description, mimeType, maxTimeoutSeconds, options, signInChainIds, passCredentials });
  }
}

/** Whether an option may be paid by a method. */
export function isTakenBy({ methods }: Pick<PaymentOption, 'methods'>, method: string): boolean {
  return methods === null || methods.includes(method);
}

/** A permit needs an allowance, so it is only asked for where the seller names it and no authorization is taken. */
function exactMethodOf(option: PaymentOption, takesAuthorizations: boolean): OfferedFacts['exact'] {
  if (takesAuthorizations && isTakenBy(option, 'eip3009')) return 'eip3009';
  return option.methods?.includes('permit2') === true ? 'permit2' : null;
}

const isEqual = (one: readonly OfferedFacts[], other: readonly OfferedFacts[]): boolean =>
  one.length === other.length && one.every((facts, at) => facts === other[at]);

interface SoldOptionParts {
  readonly route: PaidRoute;
  readonly path: PaidPath;
  readonly settings: ChallengeSettings;
}

/** A route as it is sold in one option. */
export class SoldOption {
  readonly template: ChallengeTemplate;
  readonly priceBaseUnits: bigint;
  /** The names of its network in `X-Payment`. */
  readonly networks: readonly string[];
  readonly #terms: Omit<ReferenceTerms, 'method' | 'resource'>;
  readonly #termsByMethod = new Map<string, ReferenceTerms>();
  /** The MPP requests at the current price. */
  readonly #chargeRequests: ReadonlySet<string | null>;
  readonly #literal: string | null;
  readonly #literalStart: string | null;
  #offered: OfferedFacts;

  constructor(
    readonly judged: OfferableOption,
    private readonly parts: SoldOptionParts,
  ) {
    const { option } = judged;
    const { route, path, settings } = parts;
    const { chain, asset, payTo, domainName, domainVersion: assetVersion } = option;
    this.priceBaseUnits = priceOf(route, option);
    this.#terms = { asset, payTo, network: chain.network };
    const { maxTimeoutSeconds, v1ClientsUrl } = settings;
    const { description, mimeType } = route;
    const { priceBaseUnits } = this;
    const known = v1ClientsUrl === null ? null : v1NetworkOf(chain.id);
    this.networks = known === null || known === chain.network ? [chain.network] : [chain.network, known];
    const facts = { asset, assetVersion, payTo, maxTimeoutSeconds, priceBaseUnits, description, mimeType };
    this.template = new ChallengeTemplate({
      ...facts,
      network: known ?? chain.network,
      assetName: v1ClientsUrl === null ? option.symbol : domainName,
    });
    this.#literal = path.literal;
    this.#literalStart = path.literal === null ? null : this.#renderStart(path.literal);
    const { id: chainId } = chain;
    const token = { chainId, asset, assetName: domainName, assetVersion, assetDecimals: option.decimals, payTo };
    const takesTransactions = settings.takesTransactions && isTakenBy(option, 'transfer');
    this.#offered = { ...token, priceBaseUnits, takesTransactions, exact: null, relayer: null };
    this.#chargeRequests = new Set(listChargeRequests(this.#offered, priceBaseUnits));
  }

  /** Whether this is the MPP `request` of a challenge for this option at this price, whatever was offered by then. */
  isChargeRequest(request: string, priceBaseUnits = this.priceBaseUnits): boolean {
    if (priceBaseUnits === this.priceBaseUnits) return this.#chargeRequests.has(request);
    return listChargeRequests(this.#offered, priceBaseUnits).includes(request);
  }

  /** How it is offered now; null while no verifier judges it. The same object while nothing changes. */
  readOffered(): OfferedFacts | null {
    const { option, agreement, relayer: available } = this.judged;
    if (!agreement.isFresh()) return null;
    const exact = exactMethodOf(option, agreement.takesAuthorizations);
    const relayer = this.parts.route.isMetered === true && isTakenBy(option, 'permit2') ? available.address : null;
    if (this.#offered.exact !== exact || this.#offered.relayer !== relayer)
      this.#offered = { ...this.#offered, exact, relayer };
    return this.#offered;
  }

  hasOffered(facts: OfferedFacts): boolean {
    return this.#offered === facts;
  }

  /** As it was offered last, or would be. */
  get facts(): OfferedFacts {
    return this.#offered;
  }

  renderStart(resource: string): string {
    return this.#literalStart ?? this.#renderStart(resource);
  }

  /** The terms that a reference for this method and resource is bound to, whatever the form of its challenge. */
  termsOf(method: string, resource: string): ReferenceTerms {
    if (this.#literal === null) return { method, resource, ...this.#terms };
    let terms = this.#termsByMethod.get(method);
    if (terms === undefined) this.#termsByMethod.set(method, (terms = { method, resource, ...this.#terms }));
    return terms;
  }

  #renderStart(resource: string): string {
    return this.template.renderStart((this.parts.settings.v1ClientsUrl ?? '') + resource);
  }
}
