import type { PaymentEnvironment } from '@tollgate/common';
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
}

export function challengeSettingsOf(
  { challenge, payment, server }: GatewayEnvironment,
  readRelayer: () => Hex | null,
): ChallengeSettings {
  const { challengeForm, signedPayments } = challenge;
  const isForV1Clients = challengeForm === 'v1-clients' && server.publicUrl !== undefined;
  const v1ClientsUrl = isForV1Clients ? publicOriginOf(server.publicUrl).url : null;
  return { payment, v1ClientsUrl, signedPayments, readRelayer };
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
  /** Null where signed payments are not accepted. */
  readonly offer: OfferTemplate | null;
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
      ...(route.isMetered === true && { readRelayer }),
    };
    const isRevisited = (route.revisitSeconds ?? 0) > 0;
    this.isRevisited = isRevisited;
    this.offer = signedPayments ? new OfferTemplate({ ...offered, isRevisited }) : null;
    this.#literalStart = this.path.literal === null ? null : this.#renderStart(this.path.literal);
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
