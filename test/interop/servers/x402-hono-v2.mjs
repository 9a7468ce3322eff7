import { paymentMiddleware, x402ResourceServer } from '@x402/hono';
import { createResourceServer, routeV2 } from './configuration.mjs';
import { serveHono } from './hono.mjs';

const routes = { 'GET /quote': routeV2, 'GET /broken': routeV2 };
serveHono('@x402/hono', paymentMiddleware(routes, await createResourceServer(x402ResourceServer)));
