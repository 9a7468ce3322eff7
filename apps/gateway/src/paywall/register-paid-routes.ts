import { handleError } from '@tollgate/common';
import type { FastifyInstance } from 'fastify';

import type { RenderHtmlPage } from './offer/html-page.js';
import { type ChallengeSettings, PaidEndpoint } from './offer/paid-endpoint.js';
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
 * Registers the paid routes on the server, with the paywall as their admission. Bodies stay bytes, so that they are
 * forwarded as sent.
 */
export async function registerPaidRoutes(
  server: FastifyInstance,
  { paywall, routes, settings, renderPage }: PaidRoutesParts,
): Promise<void> {
  const pathsWithHead = new Set<string>();
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.setErrorHandler(handleError);
    for (const route of routes) {
      const endpoint = new PaidEndpoint(route, settings, route.methods.includes('GET') ? renderPage : null);
      const methods = pathsWithHead.has(route.path) ? [...route.methods] : [...route.methods, 'HEAD'];
      pathsWithHead.add(route.path);
      scope.route({
        method: methods,
        url: route.path,
        exposeHeadRoute: false,
        ...(route.maxBodyBytes === undefined ? {} : { bodyLimit: route.maxBodyBytes }),
        config: { access: { admit: (request, reply, pass) => paywall.admit(endpoint, request, reply, pass) } },
        handler: (request, reply) => paywall.serve(request, reply),
      });
    }
  });
}
