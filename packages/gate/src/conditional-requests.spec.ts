import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';

import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
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

/** Answers a `Request` as a handler that knows conditions does. */
function answerFetch({ headers }: Request): Response {
  const tag = tagOf(JSON.stringify(GOODS));
  const isKnown = headers.get('if-none-match') === tag || headers.get('if-modified-since') === MODIFIED;
  const validators = { ETag: tag, 'Last-Modified': MODIFIED };
  return isKnown
    ? new Response(null, { status: 304, headers: validators })
    : Response.json(GOODS, { headers: validators });
}

/** Servers with the etags of their framework; `/unchanged` answers 304 to everybody. */
const SHOPS: Record<string, (gate: PaymentGate) => Promise<Shop>> = {
  express: async (gate) => {
    const app = express();
    app.get('/goods', paidExpress(gate, OFFER), (_request, response) => {
      response.setHeader('Last-Modified', MODIFIED);
      response.json(GOODS);
    });
    app.get('/unchanged', paidExpress(gate, OFFER), (_request, response) => void response.status(304).end());
    return listen(app as RequestListener);
  },
  fastify: async (gate) => {
    const app = fastify();
    // As @fastify/etag does.
    app.addHook('onSend', async (request, reply, payload) => {
      if (typeof payload !== 'string' || reply.statusCode !== 200) return payload;
      reply.header('etag', tagOf(payload)).header('last-modified', MODIFIED);
      const { 'if-none-match': tag, 'if-modified-since': since } = request.headers;
      if (tag !== tagOf(payload) && since !== MODIFIED) return payload;
      reply.code(304);
      return '';
    });
    app.get('/goods', paidFastify(gate, OFFER), async () => GOODS);
    app.get('/unchanged', paidFastify(gate, OFFER), async (_request, reply) => reply.code(304).send());
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, server: app.server, stop: () => app.close() };
  },
  'hono, with etag before the gate': async (gate) => {
    const app = new Hono();
    app.use(etag());
    app.get('/goods', paidHono(gate, OFFER), (context) => context.json(GOODS, 200, { 'Last-Modified': MODIFIED }));
    app.get('/unchanged', paidHono(gate, OFFER), (context) => context.body(null, 304));
    return listen(serveFetch((request) => app.fetch(request)));
  },
  'hono, with etag behind the gate': async (gate) => {
    const app = new Hono();
    app.get('/goods', paidHono(gate, OFFER), etag(), (context) => answerFetch(context.req.raw));
    app.get('/unchanged', paidHono(gate, OFFER), (context) => context.body(null, 304));
    return listen(serveFetch((request) => app.fetch(request)));
  },
  next: async (gate) => {
    const goods = paidNext(gate, OFFER, answerFetch);
    const unchanged = paidNext(gate, OFFER, () => new Response(null, { status: 304 }));
    return listen(serveFetch((request) => (request.url.endsWith('/goods') ? goods : unchanged)(request)));
  },
};

// Prevents: a payer that keeps earlier answers pays for a 304, which has no body, and gets it again for its payment.
describe.each(Object.keys(SHOPS))('a paid request with a condition, to %s', (name) => {
  let facilitator: ScriptedFacilitator;
  let shop: Shop;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    shop = await SHOPS[name]!(
      new PaymentGate({
        ...{ payTo: PAY_TO, asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 }, chainId: 1328 },
        facilitator: { url: facilitator.url },
      }),
    );
  });

  afterAll(async () => {
    await shop.stop();
    await facilitator.stop();
  });

  const get = (path: string, headers: Record<string, string>) => fetch(shop.url + path, { headers });

  it('gets the body', async () => {
    const etag = (await get('/goods', VERSIONS[1].pay())).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    for (const condition of [{ 'If-None-Match': etag }, { 'If-Modified-Since': MODIFIED }]) {
      const payment = {
        ...VERSIONS[1].pay(),
        'Idempotency-Key': `known-to-the-payer-alone ${Object.keys(condition)[0]}`,
      };
      for (const isReplay of [null, 'true']) {
        const response = await get('/goods', { ...payment, ...condition });
        expect([response.status, await response.text()]).toEqual([200, JSON.stringify(GOODS)]);
        expect(response.headers.get('idempotent-replayed')).toBe(isReplay);
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
