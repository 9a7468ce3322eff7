import type { PaymentOption } from '@tollgate/config';
import {
  listSignedMethods,
  methodOfScheme,
  v1NetworkOf,
  type AnySignedMethod,
  type ReferenceTerms,
} from '@tollgate/protocol';

import type { OfferableOption } from '../../options/judged-options.js';
import type { PaidPath } from '../route/paid-path.js';
import type { PaidRoute } from '../route/paid-route.js';
import { priceOf } from '../route/price-of.js';
import { ChallengeTemplate } from './challenge-template.js';
import { listChargeRequests, type OfferedFacts } from './offer-template.js';

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
  readonly #exactMethods: readonly AnySignedMethod[];
  readonly #isMetered: boolean;
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
    const { takesTransactions } = settings;
    this.#offered = { ...token, priceBaseUnits, takesTransactions, exact: null, relayer: null };
    this.#chargeRequests = new Set(listChargeRequests(this.#offered, priceBaseUnits));
    this.#exactMethods = chain.settles ? listExactMethods(option) : [];
    const metered = methodOfScheme('upto');
    this.#isMetered = route.isMetered === true && metered !== undefined && isOffered(option, metered.transferMethod);
  }

  /** Whether this is the MPP `request` of a challenge for this option at this price, whatever was offered by then. */
  isChargeRequest(request: string, priceBaseUnits = this.priceBaseUnits): boolean {
    if (priceBaseUnits === this.priceBaseUnits) return this.#chargeRequests.has(request);
    return listChargeRequests(this.#offered, priceBaseUnits).includes(request);
  }

  /** How it is offered now; null while no verifier judges it. The same object while nothing changes. */
  readOffered(): OfferedFacts | null {
    const { agreement, relayer: available } = this.judged;
    if (!agreement.isFresh()) return null;
    const { takesAuthorizations } = agreement;
    const method = this.#exactMethods.find(({ spender }) => spender !== null || takesAuthorizations);
    const exact = method?.transferMethod ?? null;
    const relayer = this.#isMetered ? available.address : null;
    if (this.#offered.exact !== exact || this.#offered.relayer !== relayer)
      this.#offered = { ...this.#offered, exact, relayer };
    return this.#offered;
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

/** Whether a signed method is offered; at the gateway's own routes, what is presented is judged in any case. */
export function isOffered({ methods }: Pick<PaymentOption, 'methods'>, method: string): boolean {
  return methods === null || methods.includes(method);
}

/**
 * The methods by which scheme `exact` may be signed, preferred ones first. One that needs an allowance is only asked for
 * where the seller names it.
 */
function listExactMethods({ methods }: PaymentOption): AnySignedMethod[] {
  return listSignedMethods().filter(
    ({ schemes, versions, transferMethod, spender }) =>
      schemes.includes('exact') &&
      versions.includes(2) &&
      (methods === null ? spender === null : methods.includes(transferMethod)),
  );
}
