import { chainsOf } from '@tollgate/config';

import type { GatewayEnvironment } from '../../config/gateway.config.js';
import type { OfferableOption } from '../../options/judged-options.js';
import { acceptsOption } from '../route/options-of-route.js';
import { PaidPath } from '../route/paid-path.js';
import type { PaidRoute } from '../route/paid-route.js';
import type { RenderHtmlPage } from './html-page.js';
import { expiryOf, OfferTemplate, type OfferedFacts } from './offer-template.js';
import { publicOriginOf } from './public-origin.js';
import { SoldOption, type ChallengeSettings } from './sold-option.js';

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
    const options = this.options.filter(({ facts }) => offered.includes(facts));
    const offer = { options, template: this.settings.signedPayments ? this.#createTemplate(offered) : null };
    this.#offer = { offered, offer };
    return offer;
  }

  /** The MPP `expires` of a challenge issued at that time. */
  expiresAt(issuedAtMs: number): string {
    return expiryOf(issuedAtMs, this.settings.maxTimeoutSeconds);
  }

  /** The method whose challenge a HEAD gets. */
  get headMethod(): string {
    const { methods } = this.route;
    return methods.includes('GET') ? 'GET' : (methods[0] ?? 'GET');
  }

  /** The chains of its options. */
  get chainIds(): number[] {
    return chainsOf(this.options.map(({ judged }) => judged.option)).map(({ id }) => id);
  }

  #createTemplate(options: readonly OfferedFacts[]): OfferTemplate {
    const { description, mimeType, passCredentials = false } = this.route;
    const { maxTimeoutSeconds } = this.settings;
    const signInChainIds = this.isRevisited ? this.chainIds : [];
    return new OfferTemplate({ description, mimeType, maxTimeoutSeconds, options, signInChainIds, passCredentials });
  }
}

const isEqual = (one: readonly OfferedFacts[], other: readonly OfferedFacts[]): boolean =>
  one.length === other.length && one.every((facts, at) => facts === other[at]);
