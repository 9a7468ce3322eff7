import { paymentMiddleware } from 'x402-express';

import { configuration, facilitatorV1, routeV1 } from './configuration.mjs';
import { serveExpress } from './express.mjs';

const routes = { 'GET /quote': routeV1, 'GET /broken': routeV1 };
serveExpress('x402-express', paymentMiddleware(configuration.payTo, routes, facilitatorV1));
