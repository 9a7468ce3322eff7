// Our own middlewares in one process, each behind a prefix of its own: `/express`, `/hono`, `/fastify`, `/next`.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { PaymentGate } from '@tollgate/middleware';
import { paid as paidExpress } from '@tollgate/middleware/express';
import { paid as paidFastify } from '@tollgate/middleware/fastify';
import { paid as paidHono } from '@tollgate/middleware/hono';
import { paid as paidNext } from '@tollgate/middleware/next';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import type { Hex } from 'viem';

import { serveFetch } from '../../../packages/middleware/test/serve-fetch.js';

interface Configuration {
  chainId: number;
  asset: Hex;
  assetName: string;
  assetVersion: string;
  payTo: Hex;
  facilitatorUrl: string;
  facilitatorHeaders: { authorization?: string };
}

const { chainId, asset, assetName, assetVersion, payTo, facilitatorUrl, facilitatorHeaders } = JSON.parse(
  process.env['INTEROP_SERVER'] ?? '{}',
) as Configuration;
const gate = new PaymentGate({
  facilitator: { url: facilitatorUrl, apiKey: facilitatorHeaders.authorization?.replace('Bearer ', '') },
  payTo,
  asset: { address: asset, name: assetName, version: assetVersion, decimals: 6 },
  chainId,
});
const offer = { price: '0.001', description: 'A quote', mimeType: 'application/json' };
const quote = (adapter: string) => ({ symbol: 'SEI', server: `@tollgate/middleware/${adapter}` });
const failure = { error: 'the handler failed' };

const expressApp = express();
expressApp.get('/express/quote', paidExpress(gate, offer), (_, response) => void response.json(quote('express')));
expressApp.get('/express/broken', paidExpress(gate, offer), (_, response) => void response.status(500).json(failure));

const honoApp = new Hono();
honoApp.get('/hono/quote', paidHono(gate, offer), (context) => context.json(quote('hono')));
honoApp.get('/hono/broken', paidHono(gate, offer), (context) => context.json(failure, 500));

const fastifyApp = fastify();
fastifyApp.get('/fastify/quote', paidFastify(gate, offer), async () => quote('fastify'));
fastifyApp.get('/fastify/broken', paidFastify(gate, offer), async (_, reply) => reply.code(500).send(failure));
await fastifyApp.ready();

const nextRoutes: Record<string, (request: Request) => Response | Promise<Response>> = {
  '/next/quote': paidNext(gate, offer, () => Response.json(quote('next'))),
  '/next/broken': paidNext(gate, offer, () => Response.json(failure, { status: 500 })),
};
const serveNext = serveFetch(
  (request) => nextRoutes[new URL(request.url).pathname]?.(request) ?? new Response(null, { status: 404 }),
);

const listeners: Record<string, RequestListener> = {
  express: expressApp,
  hono: serveFetch((request) => honoApp.fetch(request)),
  fastify: (request, response) => fastifyApp.routing(request, response),
  next: serveNext,
};
const server = createServer((request, response) => {
  const [, prefix = ''] = request.url?.split('/') ?? [];
  listeners[prefix]?.(request, response);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
