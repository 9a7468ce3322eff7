// One published server, set up as its README shows: `server.mjs @x402/express|@x402/hono|x402-express|x402-hono|fastify`.
import { announce, configuration, eip712, networkV1, networkV2, priceBaseUnits, weather } from './configuration.mjs';

const path = '/api/weather';
const description = 'Current weather';
const { asset, payTo, facilitatorUrl } = configuration;

const servers = {
  '@x402/express': serveExpressV2,
  '@x402/hono': serveHonoV2,
  'x402-express': serveExpressV1,
  'x402-hono': serveHonoV1,
  fastify: serveFastify,
};
const start = servers[process.argv[2]];
if (!start) throw new Error(`Say which server: ${Object.keys(servers).join(', ')}`);
await start();

async function serveExpressV2() {
  const { paymentMiddleware, x402ResourceServer } = await import('@x402/express');
  const { default: express } = await import('express');
  const app = express();
  app.use(paymentMiddleware(routesV2(), await withFacilitator(x402ResourceServer)));
  app.get(path, (_request, response) => response.json(weather()));
  listenExpress(app);
}

async function serveHonoV2() {
  const { paymentMiddleware, x402ResourceServer } = await import('@x402/hono');
  const { Hono } = await import('hono');
  const app = new Hono();
  app.use(paymentMiddleware(routesV2(), await withFacilitator(x402ResourceServer)));
  app.get(path, (context) => context.json(weather()));
  await listenHono(app);
}

async function serveExpressV1() {
  const { paymentMiddleware } = await import('x402-express');
  const { default: express } = await import('express');
  const app = express();
  app.use(paymentMiddleware(payTo, routesV1(), { url: facilitatorUrl }));
  app.get(path, (_request, response) => response.json(weather()));
  listenExpress(app);
}

async function serveHonoV1() {
  const { paymentMiddleware } = await import('x402-hono');
  const { Hono } = await import('hono');
  const app = new Hono();
  app.use(paymentMiddleware(payTo, routesV1(), { url: facilitatorUrl }));
  app.get(path, (context) => context.json(weather()));
  await listenHono(app);
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

function listenExpress(app) {
  const server = app.listen(0, '127.0.0.1', () => announce(server.address().port));
}

async function listenHono(app) {
  const { serve } = await import('@hono/node-server');
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => announce(port));
}
