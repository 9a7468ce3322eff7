import { request as startRequest, type OutgoingHttpHeaders, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

import express from 'express';
import fastify from 'fastify';

import { waitFor } from '../../../test/harness/retry.js';
import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import { listen, type Shop } from '../test/serve-fetch.js';
import { fail, isValid, startFacilitator, succeed, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { paid as paidExpress } from './express.js';
import { paid as paidFastify } from './fastify.js';
import { PaymentGate } from './gate/gate.js';

const CHEAP = { price: '0.001' };
const DEAR = { price: '1' };

/**
 * Routers may distinguish requests by more than the URL that a gate compares: by the unresolved path, or by another
 * header.
 */
const SHOPS: Readonly<Record<string, (gate: PaymentGate) => Promise<Shop>>> = {
  express: (gate) => {
    const app = express();
    app.get('/quotes/:symbol', paidExpress(gate, CHEAP), (_request, response) => void response.send('a quote'));
    app.get('/report', paidExpress(gate, DEAR), (_request, response) => void response.send('the report'));
    return listen(app as RequestListener);
  },
  fastify: async (gate) => {
    const app = fastify();
    app.get('/quotes/:symbol', paidFastify(gate, CHEAP), async () => 'a quote');
    app.get('/report', paidFastify(gate, DEAR), async () => 'the report');
    app.get('/report', { constraints: { version: '1.0.0' }, ...paidFastify(gate, CHEAP) }, async () => 'an old report');
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, server: app.server, stop: () => app.close() };
  },
};

describe('a payment whose response was not delivered', () => {
  let facilitator: ScriptedFacilitator;
  let shop: Shop;

  beforeAll(async () => {
    facilitator = await startFacilitator();
  });

  afterAll(() => facilitator.stop());

  afterEach(() => shop.stop());

  const ask = (path: string, headers: OutgoingHttpHeaders) =>
    startRequest({ host: '127.0.0.1', port: new URL(shop.url).port, path, headers, agent: false });

  async function get(path: string, headers: OutgoingHttpHeaders): Promise<string> {
    const client = ask(path, headers);
    return new Promise((resolve, reject) => {
      client.once('error', reject);
      client.once('response', (response) => resolve(text(response).then((body) => `${response.statusCode} ${body}`)));
      client.end();
    });
  }

  // Prevents: a client pays for a cheap resource, disconnects during settlement, and gets an expensive one instead.
  it.each([
    ['express', '/quotes/x\\..\\..\\report', {}],
    ['fastify', '/quotes/x\\..\\..\\report', {}],
    ['fastify', '/report', { 'Accept-Version': '1.0.0' }],
  ])('buys nothing more expensive from %s, by %s with %j', async (name, path, more) => {
    shop = await SHOPS[name]!(
      new PaymentGate({
        payTo: PAY_TO,
        asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
        chainId: 1328,
        facilitator: { url: facilitator.url },
        // The handler runs again for the repeat. An answer that is stored is given for what it was made for.
        maxAnswerBytes: 0,
      }),
    );
    const payment = VERSIONS[1].pay();
    const left = new Promise<void>((resolve) => {
      shop.server.once('connection', (socket: Socket) => void socket.once('close', () => resolve()));
    });
    const client = ask(path, { ...payment, ...more });
    client.on('error', () => undefined);
    facilitator.verify = isValid;
    facilitator.settle = async (question) => {
      client.destroy();
      await left;
      return succeed(question);
    };
    client.end();
    await left;
    facilitator.verify = () => ({ isValid: false, invalidReason: 'nonce_already_used' });
    facilitator.settle = fail('nonce_already_used');
    let answer = '';
    await waitFor('the end of the first request', async () => {
      answer = await get('/report', payment);
      return !answer.includes('payment_in_progress');
    });
    expect(answer).not.toContain('200');
    expect(answer).toBe('409 {"error":"payment_for_another_request"}');
    expect(await get(path, { ...payment, ...more })).toMatch(/^200 an? /);
  });
});
