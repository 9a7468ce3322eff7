import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';

import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';

import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import { listen, serveFetch, type Shop } from '../test/serve-fetch.js';
import { startFacilitator, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { paid as paidExpress } from './express.js';
import { paid as paidFastify } from './fastify.js';
import { PaymentGate } from './gate/gate.js';
import { paid as paidHono } from './hono.js';
import { paid as paidNext } from './next.js';

const OFFER = { price: '0.001' };
const GOODS = { conditions: 'sunny' };
const MODIFIED = 'Thu, 01 Jan 2026 00:00:00 GMT';
const tagOf = (body: string): string => `"${createHash('sha1').update(body).digest('hex')}"`;

/** As a compression behind the gate does. */
function answerCoded(): Response {
  return new Response(gzipSync(JSON.stringify(GOODS)), { headers: { 'Content-Encoding': 'gzip' } });
}

/** Answers a `Request` as a handler that knows conditions and ranges does. */
function answerFetch({ headers }: Request): Response {
  if (headers.has('accept-encoding')) return answerCoded();
  if (headers.has('range')) return new Response('{', { status: 206, headers: { 'Accept-Ranges': 'bytes' } });
  const tag = tagOf(JSON.stringify(GOODS));
  const isKnown = headers.get('if-none-match') === tag || headers.get('if-modified-since') === MODIFIED;
  const validators = { ETag: tag, 'Last-Modified': MODIFIED };
  return isKnown
    ? new Response(null, { status: 304, headers: validators })
    : Response.json(GOODS, { headers: validators });
}

/** Where a compression before the gate finds what the client accepts, it says so here. */
const ACCEPTED = 'x-accepted';
const COMPRESSES_BEFORE = ['express', 'fastify', 'hono, with etag before the gate'];

/** Servers with the etags of their framework; `/unchanged` answers 304 to everybody. */
const SHOPS: Record<string, (gate: PaymentGate) => Promise<Shop>> = {
  express: async (gate) => {
    const app = express();
    app.use((request, response, next) => {
      const end = response.end.bind(response) as (...args: unknown[]) => typeof response;
      response.end = (...args: unknown[]) =>
        end.apply(response.setHeader(ACCEPTED, request.headers['accept-encoding'] ?? ''), args);
      next();
    });
    app.get('/goods', paidExpress(gate, OFFER), (request, response) => {
      response.setHeader('Last-Modified', MODIFIED).setHeader('Accept-Ranges', 'bytes');
      if (request.headers['accept-encoding'] !== undefined)
        response.set('Content-Encoding', 'gzip').send(gzipSync('x'));
      else if (request.headers.range === undefined) response.json(GOODS);
      else response.status(206).end('{');
    });
    app.get('/unchanged', paidExpress(gate, OFFER), (_request, response) => void response.status(304).end());
    return listen(app as RequestListener);
  },
  fastify: async (gate) => {
    const app = fastify();
    // As @fastify/compress does.
    app.addHook('onRoute', (route) => {
      route.onSend = [
        ...[route.onSend ?? []].flat(),
        async (request, reply) => void reply.header(ACCEPTED, request.headers['accept-encoding'] ?? ''),
      ];
    });
    // As @fastify/etag does.
    app.addHook('onSend', async (request, reply, payload) => {
      if (typeof payload !== 'string' || reply.statusCode !== 200) return payload;
      reply.header('etag', tagOf(payload)).header('last-modified', MODIFIED);
      const { 'if-none-match': tag, 'if-modified-since': since } = request.headers;
      if (tag !== tagOf(payload) && since !== MODIFIED) return payload;
      reply.code(304);
      return '';
    });
    app.get('/goods', paidFastify(gate, OFFER), async ({ headers }, reply) => {
      if (headers['accept-encoding'] !== undefined) return answerCoded();
      return headers.range === undefined ? GOODS : reply.code(206).send('{');
    });
    app.get('/unchanged', paidFastify(gate, OFFER), async (_request, reply) => reply.code(304).send());
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, server: app.server, stop: () => app.close() };
  },
  'hono, with etag before the gate': async (gate) => {
    const app = new Hono();
    app.use(etag(), async (context, next) => {
      await next();
      context.header(ACCEPTED, context.req.header('accept-encoding') ?? '');
    });
    app.get('/goods', paidHono(gate, OFFER), (context) =>
      context.req.header('range') === undefined
        ? context.json(GOODS, 200, { 'Last-Modified': MODIFIED })
        : context.body('{', 206),
    );
    app.get('/unchanged', paidHono(gate, OFFER), (context) => context.body(null, 304));
    return listen(serveFetch((request) => app.fetch(request)));
  },
  'hono, with etag behind the gate': async (gate) => {
    const app = new Hono();
    app.get('/goods', paidHono(gate, OFFER), etag(), compress(), (context) => answerFetch(context.req.raw));
    app.get('/unchanged', paidHono(gate, OFFER), (context) => context.body(null, 304));
    return listen(serveFetch((request) => app.fetch(request)));
  },
  next: async (gate) => {
    const goods = paidNext(gate, OFFER, answerFetch);
    const unchanged = paidNext(gate, OFFER, () => new Response(null, { status: 304 }));
    return listen(serveFetch((request) => (request.url.endsWith('/goods') ? goods : unchanged)(request)));
  },
};

// Prevents: a payer pays for a 304, which has no body, or for a part, and gets that again when it asks for the whole.
describe.each(Object.keys(SHOPS))('a paid request with a condition, a range or a coding, to %s', (name) => {
  let facilitator: ScriptedFacilitator;
  let shop: Shop;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    shop = await SHOPS[name]!(
      new PaymentGate({
        payTo: PAY_TO,
        asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
        chainId: 1328,
        facilitator: { url: facilitator.url },
      }),
    );
  });

  afterAll(async () => {
    await shop.stop();
    await facilitator.stop();
  });

  const get = (path: string, headers: Record<string, string>) =>
    fetch(shop.url + path, { headers: { 'Accept-Encoding': 'gzip', ...headers } });

  it('gets the whole body', async () => {
    const etag = (await get('/goods', VERSIONS[1].pay())).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    for (const condition of [{ 'If-None-Match': etag }, { 'If-Modified-Since': MODIFIED }, { Range: 'bytes=0-0' }]) {
      const payment = {
        ...VERSIONS[1].pay(),
        'Idempotency-Key': `known-to-the-payer-alone ${Object.keys(condition)[0]}`,
      };
      for (const isReplay of [null, 'true']) {
        const response = await get('/goods', { ...payment, ...condition });
        expect([response.status, await response.text()]).toEqual([200, JSON.stringify(GOODS)]);
        expect(response.headers.get('idempotent-replayed')).toBe(isReplay);
        expect(response.headers.get('accept-ranges')).toBe('none');
        expect(response.headers.get('content-encoding')).toBeNull();
        expect(response.headers.get(ACCEPTED)?.includes('gzip') ?? false).toBe(COMPRESSES_BEFORE.includes(name));
      }
    }
  });

  it('pays nothing for a 304 that the handler sends all the same', async () => {
    facilitator.asked.length = 0;
    const response = await get('/unchanged', VERSIONS[1].pay());
    expect([response.status, response.headers.get('x-payment-released')]).toEqual([304, 'true']);
    expect(facilitator.asked.map(({ path }) => path)).toEqual(['/verify']);
  });
});
