import { Inject, Injectable } from '@nestjs/common';
import { countParameter, textParameter } from '@tollgate/http';
import {
  caip2Of,
  type DiscoveredResource,
  type DiscoveryResponse,
  type Hex,
  type RequirementV2,
} from '@tollgate/protocol';
import { z } from 'zod';

import { GatewayEnvironment } from '../config/gateway.config.js';
import { createMeteredOption } from '../paywall/offer/offer-template.js';
import { challengeSettingsOf, type ChallengeSettings } from '../paywall/offer/paid-endpoint.js';
import { publicOriginOf } from '../paywall/offer/public-origin.js';
import { PaywallConnections } from '../paywall/paywall.module.js';
import { PAID_ROUTES, type PaidRoute } from '../paywall/route/paid-route.js';
import { AvailableRelayer } from '../signed-payments/available-relayer.js';

/**
 * The gateway's paid resources in the x402 discovery format. The list is empty without PUBLIC_URL: others store it, and
 * must not store an address that a client put into a Host header.
 */
@Injectable()
export class ResourceListing {
  readonly #x402Version: 1 | 2;
  readonly #settings: ChallengeSettings;
  /** Create each item for the current relayer, which payers of `upto` must name. */
  readonly #items: readonly ((relayer: Hex | null) => DiscoveredResource)[];

  constructor(
    @Inject(GatewayEnvironment) environment: GatewayEnvironment,
    @Inject(PAID_ROUTES) routes: readonly PaidRoute[],
    @Inject(AvailableRelayer) private readonly relayer: AvailableRelayer,
    @Inject(PaywallConnections) { agreement }: PaywallConnections,
  ) {
    const { publicUrl } = environment.server;
    const settings = challengeSettingsOf(environment, {
      readRelayer: () => relayer.address,
      takesAuthorizations: () => agreement.takesAuthorizations,
    });
    this.#settings = settings;
    const lastUpdated = new Date().toISOString();
    this.#x402Version = settings.signedPayments ? 2 : 1;
    this.#items =
      publicUrl === undefined
        ? []
        : routes.map((route) => {
            const item: DiscoveredResource = {
              ...describe(route, publicOriginOf(publicUrl).url + route.path, settings),
              type: 'http',
              lastUpdated,
              metadata: { methods: route.methods },
            };
            return (relayer) => (route.isMetered === true && relayer !== null ? addMeteredOption(item, relayer) : item);
          });
  }

  list({ type, limit, offset, ...terms }: ListingQuery): DiscoveryResponse {
    const { signedPayments, takesAuthorizations } = this.#settings;
    const items = this.#items
      .map((create) => create(this.relayer.address))
      .map((item) => (signedPayments && !takesAuthorizations() ? withoutAuthorizations(item) : item))
      .filter(({ accepts }) => accepts.length > 0);
    const found = type === undefined || type === 'http' ? items.filter((item) => fits(item, terms)) : [];
    return {
      x402Version: this.#x402Version,
      items: found.slice(offset, offset + limit),
      pagination: { limit, offset, total: found.length },
    };
  }
}

/** Describes a route with x402 v2 requirements if its 402 offers them, otherwise with those of its body. */
function describe(route: PaidRoute, resource: string, { payment, signedPayments }: ChallengeSettings) {
  const { chainId, network, assetAddress, domainName, assetSymbol, assetVersion } = payment;
  const { description, mimeType } = route;
  const amount = route.priceBaseUnits.toString();
  const terms = { scheme: 'exact', payTo: payment.payTo, maxTimeoutSeconds: payment.maxTimeoutSeconds };
  const asset = {
    asset: assetAddress,
    extra: { name: signedPayments ? domainName : assetSymbol, version: assetVersion },
  };
  const accepts = signedPayments
    ? [{ ...terms, network: caip2Of(chainId), amount, ...asset }]
    : [{ ...terms, network, maxAmountRequired: amount, resource, description, mimeType, ...asset }];
  const x402Version: 1 | 2 = signedPayments ? 2 : 1;
  return { resource, x402Version, accepts, description, mimeType };
}

/** Adds the `upto` option. A metered route always accepts signed payments, so the item is in x402 v2 format. */
function addMeteredOption(item: DiscoveredResource, relayer: Hex): DiscoveredResource {
  const options = item.accepts as readonly RequirementV2[];
  return { ...item, accepts: [...options, ...options.map((exact) => createMeteredOption(exact, relayer))] };
}

/** Only scheme `exact` is signed for the token's domain. */
function withoutAuthorizations(item: DiscoveredResource): DiscoveredResource {
  const options = item.accepts as readonly RequirementV2[];
  return { ...item, accepts: options.filter(({ scheme }) => scheme !== 'exact') };
}

function fits({ accepts }: DiscoveredResource, terms: object): boolean {
  return accepts.some((requirement) =>
    Object.entries(terms).every(([name, value]) => {
      const own = (requirement as Record<string, unknown>)[name];
      return String(own).toLowerCase() === String(value).toLowerCase();
    }),
  );
}

/** Filter and page of the resource listing. Unknown parameters are ignored: published clients send additional ones. */
export const listingQuery = z.object({
  type: textParameter.optional().describe('Only `http` is supported.'),
  payTo: textParameter.optional().describe('Only resources that pay this recipient.'),
  scheme: textParameter.optional().describe('Only resources payable by this scheme.'),
  network: textParameter.optional().describe('Only resources payable on this network.'),
  limit: countParameter(1, 100, 20).describe('Maximum number of resources.'),
  offset: countParameter(0, 1_000_000, 0).describe('Number of resources to skip.'),
});
export type ListingQuery = z.output<typeof listingQuery>;
