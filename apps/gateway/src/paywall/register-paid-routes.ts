import type { FastifyInstance } from 'fastify';

import type { RenderHtmlPage } from './offer/html-page.js';
import { PaidEndpoint } from './offer/paid-endpoint.js';
import type { ChallengeSettings } from './offer/sold-option.js';
import type { Paywall } from './paywall.js';
import type { PaidRoute } from './route/paid-route.js';

interface PaidRoutesParts {
  readonly paywall: Paywall;
  readonly routes: readonly PaidRoute[];
  readonly settings: ChallengeSettings;
  /** Null where browsers get the JSON too. */
  readonly renderPage: RenderHtmlPage | null;
}

/**
 * Registers the paid routes on the server. The paywall answers them at their admission: it reads bodies itself, since
 * Fastify reads none of a GET, and judges the media type of none.
 */
export async function registerPaidRoutes(
  server: FastifyInstance,
  { paywall, routes, settings, renderPage }: PaidRoutesParts,
): Promise<void> {
  // A HEAD gets the challenge of the path's GET, or of its first method.
  const withHead = new Map<string, PaidRoute>();
  for (const route of routes) {
    if (route.methods.includes('GET') || !withHead.has(route.path)) withHead.set(route.path, route);
  }
  await server.register(async (scope) => {
    for (const route of routes) {
      const endpoint = new PaidEndpoint(route, settings, route.methods.includes('GET') ? renderPage : null);
      const methods = withHead.get(route.path) === route ? [...route.methods, 'HEAD'] : [...route.methods];
      scope.route({
        method: methods,
        url: route.path,
        exposeHeadRoute: false,
        ...(route.maxBodyBytes === undefined ? {} : { bodyLimit: route.maxBodyBytes }),
        config: { access: { admit: (request, reply) => paywall.admit(endpoint, request, reply) } },
        handler: () => {
          throw new Error('A paid route was reached without passing its paywall.');
        },
      });
    }
  });
}
