import { paymentMiddleware } from 'x402-hono';

import { configuration, facilitatorV1, routeV1 } from './configuration.mjs';
import { serveHono } from './hono.mjs';

const routes = { 'GET /quote': routeV1, 'GET /broken': routeV1 };
serveHono('x402-hono', paymentMiddleware(configuration.payTo, routes, facilitatorV1));
