// One published server, set up as its README shows: `server.mjs @x402/express|@x402/hono|x402-express|x402-hono|fastify`.
import { announce, configuration, eip712, networkV1, networkV2, priceBaseUnits, weather } from './configuration.mjs';

const path = '/api/weather';
const description = 'Current weather';
const { asset, payTo, facilitatorUrl } = configuration;

const packages = {
  '@x402/express': () => import('@x402/express'),
  '@x402/hono': () => import('@x402/hono'),
  'x402-express': () => import('x402-express'),
  'x402-hono': () => import('x402-hono'),
};
const name = process.argv[2];
if (name === 'fastify') await serveFastify();
else if (name.endsWith('express')) await serveExpress(await createMiddleware());
else await serveHono(await createMiddleware());

/** Of version 2 for the packages below @x402. */
async function createMiddleware() {
  const { paymentMiddleware, x402ResourceServer } = await packages[name]();
  return name.startsWith('@')
    ? paymentMiddleware(routesV2(), await withFacilitator(x402ResourceServer))
    : paymentMiddleware(payTo, routesV1(), { url: facilitatorUrl });
}

async function serveExpress(middleware) {
  const { default: express } = await import('express');
  const app = express();
  app.use(middleware);
  app.get(path, (_request, response) => response.json(weather()));
  const server = app.listen(0, '127.0.0.1', () => announce(server.address().port));
}

async function serveHono(middleware) {
  const { Hono } = await import('hono');
  const { serve } = await import('@hono/node-server');
  const app = new Hono();
  app.use(middleware);
  app.get(path, (context) => context.json(weather()));
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => announce(port));
}

/** The ceiling: Fastify answering one ready-made 402, the bytes of another server's answer, without any logic. */
async function serveFastify() {
  const { default: fastify } = await import('fastify');
  const app = fastify();
  const body = configuration.body;
  app.get(path, (_request, reply) => {
    reply.code(402).header('content-type', 'application/json; charset=utf-8').send(body);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  announce(app.server.address().port);
}

async function withFacilitator(ResourceServer) {
  const { HTTPFacilitatorClient } = await import('@x402/core/server');
  const { ExactEvmScheme } = await import('@x402/evm/exact/server');
  return new ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl })).register(
    networkV2,
    new ExactEvmScheme(),
  );
}

function routesV2() {
  const price = { amount: priceBaseUnits, asset, extra: eip712 };
  const accepts = { scheme: 'exact', network: networkV2, payTo, price, maxTimeoutSeconds: 300 };
  return { [`GET ${path}`]: { accepts, description, mimeType: 'application/json' } };
}

function routesV1() {
  const price = { amount: priceBaseUnits, asset: { address: asset, decimals: 6, eip712 } };
  const config = { description, mimeType: 'application/json', maxTimeoutSeconds: 300 };
  return { [`GET ${path}`]: { price, network: networkV1, config } };
}
