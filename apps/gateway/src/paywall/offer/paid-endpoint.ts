import type { PaymentEnvironment } from '@tollgate/config';
import { v1NetworkOf, type Hex, type ReferenceTerms } from '@tollgate/protocol';

import type { GatewayEnvironment } from '../../config/gateway.config.js';
import { PaidPath } from '../route/paid-path.js';
import type { PaidRoute } from '../route/paid-route.js';
import { ChallengeTemplate } from './challenge-template.js';
import type { RenderHtmlPage } from './html-page.js';
import { OfferTemplate } from './offer-template.js';
import { publicOriginOf } from './public-origin.js';

/** The settings that decide the form of the gateway's challenges. */
export interface ChallengeSettings {
  readonly payment: PaymentEnvironment;
  /**
   * The URL that precedes the resource's path in bodies for x402 v1 clients; null where bodies have the documented
   * form.
   */
  readonly v1ClientsUrl: string | null;
  /** Whether response headers offer to settle signed payments. */
  readonly signedPayments: boolean;
  /** The relayer account that settles `upto` payments; null while there is none. */
  readonly readRelayer: () => Hex | null;
  /** Whether the token can take EIP-3009 authorizations under the configured name and version. */
  readonly takesAuthorizations: () => boolean;
}

export function challengeSettingsOf(
  { challenge, payment, server }: GatewayEnvironment,
  known: Pick<ChallengeSettings, 'readRelayer' | 'takesAuthorizations'>,
): ChallengeSettings {
  const { challengeForm, signedPayments } = challenge;
  const isForV1Clients = challengeForm === 'v1-clients' && server.publicUrl !== undefined;
  const v1ClientsUrl = isForV1Clients ? publicOriginOf(server.publicUrl).url : null;
  return { payment, v1ClientsUrl, signedPayments, ...known };
}

/** The networks that payments may name: the configured one, and the name of it that x402 v1 clients use. */
export function proofNetworks({ challenge, payment }: GatewayEnvironment): string[] {
  const known = challenge.challengeForm === 'v1-clients' ? v1NetworkOf(payment.chainId) : null;
  return known === null || known === payment.network ? [payment.network] : [payment.network, known];
}

/** A paid route prepared for requests: the constant parts of its challenges are rendered once. */
export class PaidEndpoint {
  readonly path: PaidPath;
  readonly template: ChallengeTemplate;
  /** By whether EIP-3009 authorizations are taken; null where no signed payment is. */
  readonly #offers: { readonly all: OfferTemplate; readonly unauthorized: OfferTemplate } | null;
  /** Whether a payer may return without paying again. */
  readonly isRevisited: boolean;
  readonly #termsByMethod = new Map<string, ReferenceTerms>();
  readonly #literalStart: string | null;

  constructor(
    readonly route: PaidRoute,
    private readonly settings: ChallengeSettings,
    /** Renders the page that browsers get in place of the JSON of an unpaid GET; null where there is none. */
    readonly renderPage: RenderHtmlPage | null = null,
  ) {
    const { payment, v1ClientsUrl, signedPayments, readRelayer } = settings;
    const {
      chainId,
      assetAddress: asset,
      assetSymbol,
      assetVersion,
      assetDecimals,
      payTo,
      maxTimeoutSeconds,
    } = payment;
    const { priceBaseUnits, description, mimeType } = route;
    const facts = { asset, assetVersion, payTo, maxTimeoutSeconds, priceBaseUnits, description, mimeType };
    const { domainName: assetName, paymentPolicy: policy } = payment;
    this.path = PaidPath.parse(route.path);
    this.template = new ChallengeTemplate(
      v1ClientsUrl === null
        ? { ...facts, network: payment.network, assetName: assetSymbol }
        : { ...facts, network: v1NetworkOf(chainId) ?? payment.network, assetName },
    );
    const offered = {
      ...facts,
      chainId,
      assetName,
      assetDecimals,
      policy,
      passCredentials: route.passCredentials,
      ...(route.isMetered === true && { readRelayer }),
    };
    const isRevisited = (route.revisitSeconds ?? 0) > 0;
    this.isRevisited = isRevisited;
    const create = (takesAuthorizations: boolean): OfferTemplate =>
      new OfferTemplate({ ...offered, isRevisited, takesAuthorizations });
    this.#offers = signedPayments ? { all: create(true), unauthorized: create(false) } : null;
    this.#literalStart = this.path.literal === null ? null : this.#renderStart(this.path.literal);
  }

  /** Null where signed payments are not accepted. */
  get offer(): OfferTemplate | null {
    return this.#offers && this.#offers[this.settings.takesAuthorizations() ? 'all' : 'unauthorized'];
  }

  /** The method whose challenge a HEAD gets. */
  get headMethod(): string {
    const { methods } = this.route;
    return methods.includes('GET') ? 'GET' : (methods[0] ?? 'GET');
  }

  renderStart(resource: string): string {
    return this.#literalStart ?? this.#renderStart(resource);
  }

  /** The terms that a reference for this method and resource is bound to, whatever the form of its challenge. */
  termsOf(method: string, resource: string): ReferenceTerms {
    if (this.#literalStart === null) return this.#createTerms(method, resource);
    let terms = this.#termsByMethod.get(method);
    if (terms === undefined) this.#termsByMethod.set(method, (terms = this.#createTerms(method, resource)));
    return terms;
  }

  #renderStart(resource: string): string {
    return this.template.renderStart((this.settings.v1ClientsUrl ?? '') + resource);
  }

  #createTerms(method: string, resource: string): ReferenceTerms {
    const { assetAddress, payTo, network } = this.settings.payment;
    return { method, resource, asset: assetAddress, payTo, network };
  }
}
