import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { createResourceServer, routeV2 } from './configuration.mjs';
import { serveExpress } from './express.mjs';

const routes = { 'GET /quote': routeV2, 'GET /broken': routeV2 };
serveExpress('@x402/express', paymentMiddleware(routes, await createResourceServer(x402ResourceServer)));
