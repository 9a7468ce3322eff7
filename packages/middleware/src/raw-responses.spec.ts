import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import express from 'express';
import fastify, { type FastifyReply } from 'fastify';
import { Hono } from 'hono';

import { waitFor } from '../../../test/harness/retry.js';
import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import { listen, serveFetch, type NodeEnvironment, type Shop } from '../test/serve-fetch.js';
import { fail, startFacilitator, succeed, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { paid as paidExpress } from './express.js';
import { paid as paidFastify } from './fastify.js';
import { PaymentGate } from './gate/gate.js';
import { paid as paidHono } from './hono.js';

const OFFER = { price: '0.001' };
const RAW = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ngoods';

/** What a handler does with Node's own request and response. */
type Handle = (request: IncomingMessage, response: ServerResponse, reply?: FastifyReply) => unknown;

const SHOPS: Readonly<Record<string, (gate: PaymentGate, handle: Handle) => Promise<Shop>>> = {
  express: (gate, handle) => {
    const app = express();
    app.get('/goods', paidExpress(gate, OFFER), (request, response) => void handle(request, response));
    return listen(app as RequestListener);
  },
  fastify: async (gate, handle) => {
    const app = fastify();
    app.get('/goods', paidFastify(gate, OFFER), async (request, reply) => handle(request.raw, reply.raw, reply));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, server: app.server, stop: () => app.close() };
  },
  hono: async (gate, handle) => {
    const app = new Hono<{ Bindings: NodeEnvironment }>();
    app.onError((error, context) => context.text(error.message, 500));
    app.get('/goods', paidHono(gate, OFFER), async ({ env: { incoming, outgoing } }) => {
      await handle(incoming, outgoing);
      return new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
    });
    return listen(serveFetch((request, environment) => app.fetch(request, environment)));
  },
};

describe.each(Object.keys(SHOPS))('a handler of %s that does not use its framework', (name) => {
  let facilitator: ScriptedFacilitator;
  let shop: Shop;
  let handle: Handle;
  let failure: unknown;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    const gate = new PaymentGate({
      facilitator: { url: facilitator.url },
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
    });
    shop = await SHOPS[name]!(gate, async (...args) => {
      try {
        return await handle(...args);
      } catch (error) {
        failure = error;
        const [, response] = args;
        if (name === 'express') return response.writeHead(500).end('broken');
        throw error;
      }
    });
  });

  afterAll(async () => {
    await shop.stop();
    await facilitator.stop();
  });

  beforeEach(() => {
    failure = undefined;
    facilitator.settle = succeed;
    facilitator.asked.length = 0;
  });

  const get = () => fetch(`${shop.url}/goods`, { headers: { ...VERSIONS[1].pay(), Connection: 'close' } });
  const settlements = () => facilitator.asked.filter(({ path }) => path === '/settle').length;

  // Prevents: what is written to the connection is given away.
  it.each<[string, (request: IncomingMessage, response: ServerResponse) => Socket | null]>([
    ['response.socket', (_request, response) => response.socket],
    ['response.connection', (_request, response) => response.connection],
    ['request.socket', (request) => request.socket],
    ['request.connection', (request) => request.connection],
    ['what a method of the connection returns', (_request, response) => response.socket!.setNoDelay(true)],
  ])('cannot write to %s', async (_where, find) => {
    for (const send of ['write', 'end'] as const) {
      handle = (request, response) => find(request, response)?.[send](RAW);
      const response = await get();
      expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('goods')]);
      expect(String(failure)).toMatch(/A paid route must not write past its framework's response/);
    }
    expect(settlements()).toBe(0);
  });

  it('can read the connection, and listen to it', async () => {
    let heard = 0;
    handle = (request, response) => {
      const { socket } = response;
      expect(socket).toBe(request.socket);
      expect([socket?.remoteAddress, request.socket.localPort]).toEqual(['127.0.0.1', Number(new URL(shop.url).port)]);
      socket?.once('close', () => (heard += 1));
      throw new Error('no goods');
    };
    expect((await get()).status).toBe(500);
    expect(String(failure)).toBe('Error: no goods');
    await waitFor('the end of the connection', () => heard === 1);
  });

  if (name === 'hono') {
    it('cannot write to the response of Node', async () => {
      for (const write of [
        (response: ServerResponse) => response.writeHead(200),
        (response: ServerResponse) => response.write('goods'),
        (response: ServerResponse) => response.end('goods'),
      ]) {
        handle = (_request, response) => write(response);
        const response = await get();
        expect([response.status, await response.text()]).toEqual([500, expect.not.stringMatching(/^goods/)]);
        expect(String(failure)).toMatch(/A paid route must not write past/);
      }
      expect(settlements()).toBe(0);
    });
  } else {
    it.each([['at once'], ['piece by piece']])('sells what it writes to the response of Node %s', async (how) => {
      handle = async (_request, response, reply) => {
        reply?.hijack();
        response.writeHead(200, { 'X-Goods': 'yes' });
        if (how === 'at once') return response.end('goods');
        for (const piece of ['go', 'od']) response.write(piece);
        await new Promise((resolve) => void response.write('s', resolve));
        return response.end();
      };
      const sold = await get();
      expect([sold.status, await sold.text(), sold.headers.get('x-goods')]).toEqual([200, 'goods', 'yes']);
      expect(sold.headers.get('x-payment-response')).not.toBeNull();
      expect(sold.headers.get('cache-control')).toBe('private');
      facilitator.settle = fail('insufficient_funds');
      const refused = await get();
      expect([refused.status, refused.headers.get('x-goods')]).toEqual([402, null]);
      expect(await refused.json()).toMatchObject({ error: 'insufficient_funds' });
      expect(settlements()).toBe(2);
    });

    it('sends nothing ahead of the response', async () => {
      handle = (_request, response, reply) => {
        reply?.hijack();
        response.writeEarlyHints({ link: '</goods>; rel=preload' });
        response.writeProcessing();
        response.writeHead(500).end('broken');
      };
      const socket = (await import('node:net')).connect(Number(new URL(shop.url).port), '127.0.0.1');
      const received: Buffer[] = [];
      socket.on('data', (data) => received.push(data));
      const closed = new Promise((resolve) => void socket.once('close', resolve));
      const [header] = Object.entries(VERSIONS[1].pay());
      socket.write(`GET /goods HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n${header!.join(': ')}\r\n\r\n`);
      await closed;
      expect(Buffer.concat(received).toString()).toMatch(/^HTTP\/1\.1 500 /);
    });
  }
});

describe('a paid Fastify route', () => {
  let facilitator: ScriptedFacilitator;
  let gate: PaymentGate;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    gate = new PaymentGate({
      facilitator: { url: facilitator.url },
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
    });
  });

  afterAll(() => facilitator.stop());

  // Fastify writes such an answer past its own hooks.
  it('whose hooks fail gets the error, and nothing is settled', async () => {
    const app = fastify();
    app.addHook('onSend', async () => {
      throw new Error('the hook is broken');
    });
    app.get('/goods', paidFastify(gate, OFFER), async () => 'the goods');
    const answer = await app.inject({ url: '/goods', headers: VERSIONS[1].pay() });
    expect([answer.statusCode, answer.body]).toEqual([500, expect.stringContaining('the hook is broken')]);
    expect(facilitator.asked.map(({ path }) => path)).toEqual(['/verify']);
    await app.close();
  });
});
