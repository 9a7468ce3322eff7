import { paymentMiddleware, setSettlementOverrides, x402ResourceServer } from '@x402/hono';

import { createResourceServer, routeMetered, routePermit2, routeV2 } from './configuration.mjs';
import { serveHono } from './hono.mjs';

const routes = {
  'GET /quote': routeV2,
  'GET /broken': routeV2,
  'GET /permit2': routePermit2,
  'GET /metered': routeMetered,
};
serveHono(
  '@x402/hono',
  paymentMiddleware(routes, await createResourceServer(x402ResourceServer)),
  setSettlementOverrides,
);
