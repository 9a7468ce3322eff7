import type { RequestListener } from 'node:http';
import { pipeline, Readable } from 'node:stream';

import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';

import { paid as paidExpress } from '../src/express.js';
import { paid as paidFastify } from '../src/fastify.js';
import type { PaymentGate } from '../src/gate/gate.js';
import { paid as paidHono } from '../src/hono.js';
import { paid as paidNext } from '../src/next.js';
import type { Offer } from '../src/offer/challenge.js';
import { listen, serveFetch, type Shop } from './serve-fetch.js';

/** The resource that a shop sells at `GET /goods`, produced for each request. */
export type Goods = (request: { url: string; text: () => Promise<string> }) => Made | Promise<Made>;

export interface Made {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string | Readable;
}

const OFFER: Offer = { price: '0.001', description: 'Goods', mimeType: 'text/plain' };

/** A server for each framework; all sell the same resource. */
export const SHOPS: Readonly<Record<string, (gate: PaymentGate, goods: Goods, offer?: Offer) => Promise<Shop>>> = {
  express: async (gate, goods, offer = OFFER) => {
    const app = express();
    app.use((_request, response, next) => {
      response.setHeader('X-Shop', 'yes');
      response.setHeader('Edge-Control', 'cache-maxage=9s');
      next();
    });
    app.use(express.text());
    app.all('/goods', paidExpress(gate, offer), async (request, response) => {
      const text = async () => request.body as string;
      const { status = 200, headers = {}, body } = await goods({ url: request.url, text });
      response.status(status).set(headers);
      if (typeof body === 'string') response.send(body);
      else pipeline(body, response, () => undefined);
    });
    return listen(app as RequestListener);
  },
  fastify: async (gate, goods, offer = OFFER) => {
    // It would wait for idle connections for 72 seconds.
    const app = fastify({ forceCloseConnections: true });
    app.addHook(
      'onRequest',
      async (_request, reply) => void reply.headers({ 'X-Shop': 'yes', 'Edge-Control': 'cache-maxage=9s' }),
    );
    app.all('/goods', paidFastify(gate, offer), async (request, reply) => {
      const text = async () => request.body as string;
      const { status = 200, headers = {}, body } = await goods({ url: request.url, text });
      return reply.code(status).headers(headers).send(body);
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, server: app.server, stop: () => app.close() };
  },
  hono: async (gate, goods, offer = OFFER) => {
    const app = new Hono();
    app.use(async (context, next) => {
      context.header('X-Shop', 'yes');
      context.header('Edge-Control', 'cache-maxage=9s');
      await next();
    });
    app.all('/goods', paidHono(gate, offer), async (context) =>
      toResponse(await goods({ url: context.req.url, text: () => context.req.text() })),
    );
    return listen(serveFetch((request) => app.fetch(request)));
  },
  next: async (gate, goods, offer = OFFER) => {
    const handler = paidNext(gate, offer, async (request: Request) =>
      toResponse(await goods({ url: request.url, text: () => request.text() })),
    );
    return listen(
      serveFetch(async (request) => {
        const response = await handler(request);
        response.headers.set('X-Shop', 'yes');
        return response;
      }),
    );
  },
};

function toResponse({ status = 200, headers = {}, body }: Made): Response {
  return new Response(typeof body === 'string' ? body : Readable.toWeb(body), {
    status,
    headers,
  });
}
