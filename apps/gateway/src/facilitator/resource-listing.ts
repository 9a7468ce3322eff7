import { Inject, Injectable } from '@nestjs/common';
import { countParameter, textParameter } from '@tollgate/http';
import type { DiscoveredResource, DiscoveryResponse } from '@tollgate/protocol';
import { z } from 'zod';

import { GatewayEnvironment } from '../config/gateway.config.js';
import { createExactOption, createMeteredOption } from '../paywall/offer/offer-template.js';
import { challengeSettingsOf, PaidEndpoint } from '../paywall/offer/paid-endpoint.js';
import { publicOriginOf } from '../paywall/offer/public-origin.js';
import type { ChallengeSettings } from '../paywall/offer/sold-option.js';
import { PaywallConnections } from '../paywall/paywall.module.js';
import { PAID_ROUTES, type PaidRoute } from '../paywall/route/paid-route.js';

/**
 * The gateway's paid resources in the x402 discovery format. The list is empty without PUBLIC_URL: others store it, and
 * must not store an address that a client put into a Host header.
 */
@Injectable()
export class ResourceListing {
  readonly #settings: ChallengeSettings;
  readonly #routes: readonly {
    readonly endpoint: PaidEndpoint;
    readonly resource: string;
    readonly lastUpdated: string;
  }[];

  constructor(
    @Inject(GatewayEnvironment) environment: GatewayEnvironment,
    @Inject(PAID_ROUTES) routes: readonly PaidRoute[],
    @Inject(PaywallConnections) { options }: PaywallConnections,
  ) {
    const { publicUrl } = environment.server;
    this.#settings = challengeSettingsOf(environment, options.list);
    const lastUpdated = new Date().toISOString();
    const origin = publicUrl === undefined ? null : publicOriginOf(publicUrl).url;
    this.#routes = routes.flatMap((route) =>
      origin === null
        ? []
        : { endpoint: new PaidEndpoint(route, this.#settings), resource: origin + route.path, lastUpdated },
    );
  }

  list({ type, limit, offset, ...terms }: ListingQuery): DiscoveryResponse {
    const items = this.#routes
      .map(({ endpoint, resource, lastUpdated }) => ({
        ...describe(endpoint, resource, this.#settings),
        type: 'http' as const,
        lastUpdated,
        metadata: { methods: endpoint.route.methods },
      }))
      .filter(({ accepts }) => accepts.length > 0);
    const found = type === undefined || type === 'http' ? items.filter((item) => fits(item, terms)) : [];
    return {
      x402Version: this.#settings.signedPayments ? 2 : 1,
      items: found.slice(offset, offset + limit),
      pagination: { limit, offset, total: found.length },
    };
  }
}

/** Describes what a route offers now: with x402 v2 requirements if its 402 does, otherwise with those of its body. */
function describe(endpoint: PaidEndpoint, resource: string, { signedPayments, maxTimeoutSeconds }: ChallengeSettings) {
  const { description, mimeType } = endpoint.route;
  const { options } = endpoint.offer;
  const offered = options.map(({ facts }) => facts);
  const exact = offered.flatMap((facts) => createExactOption(facts, { maxTimeoutSeconds }) ?? []);
  const metered = offered.flatMap((facts) => createMeteredOption(facts, { maxTimeoutSeconds }) ?? []);
  const ofBody = options.slice(0, 1).map(({ judged: { option }, priceBaseUnits }) => ({
    scheme: 'exact',
    payTo: option.payTo,
    maxTimeoutSeconds,
    network: option.chain.network,
    maxAmountRequired: priceBaseUnits.toString(),
    resource,
    description,
    mimeType,
    asset: option.asset,
    extra: { name: option.symbol, version: option.domainVersion },
  }));
  const accepts = signedPayments ? [...exact, ...metered] : ofBody;
  const x402Version: 1 | 2 = signedPayments ? 2 : 1;
  return { resource, x402Version, accepts, description, mimeType };
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
