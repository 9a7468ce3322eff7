import { paymentMiddleware, setSettlementOverrides, x402ResourceServer } from '@x402/express';

import { createResourceServer, routeMetered, routePermit2, routeV2 } from './configuration.mjs';
import { serveExpress } from './express.mjs';

const routes = {
  'GET /quote': routeV2,
  'GET /broken': routeV2,
  'GET /permit2': routePermit2,
  'GET /metered': routeMetered,
};
serveExpress(
  '@x402/express',
  paymentMiddleware(routes, await createResourceServer(x402ResourceServer)),
  setSettlementOverrides,
);
