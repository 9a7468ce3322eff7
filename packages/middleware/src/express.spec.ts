import type { RequestListener } from 'node:http';

import express, { type ErrorRequestHandler, type Response as ExpressResponse } from 'express';

import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import { listen, type Shop } from '../test/serve-fetch.js';
import { startFacilitator, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { paid } from './express.js';
import { PaymentGate } from './gate/gate.js';

describe('an Express handler', () => {
  let facilitator: ScriptedFacilitator;
  let shop: Shop;
  let answer: (response: ExpressResponse) => void;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    const gate = new PaymentGate({
      facilitator: { url: facilitator.url },
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
    });
    const app = express();
    const sell = paid(gate, { price: '0.001' });
    app.get('/goods', sell, (_request, response) => answer(response));
    app.post('/goods', express.json(), sell, (_request, response) => answer(response));
    const giveUp: ErrorRequestHandler = (error, _request, response, next) => {
      if (response.headersSent) next(error);
      else response.status(500).json({ error: 'broken' });
    };
    app.use(giveUp);
    shop = await listen(app as RequestListener);
  });

  afterAll(async () => {
    await shop.stop();
    await facilitator.stop();
  });

  const pay = (): Promise<string> =>
    fetch(`${shop.url}/goods`, { headers: VERSIONS[2].pay() }).then(async (response) => {
      return `${response.status} ${await response.text()}`;
    });

  // Prevents: the part written before the failure is sent for free, and excess bytes become the start of the next
  // client's response.
  it.each<[string, (response: ExpressResponse) => void]>([
    ['some of the body', (response) => response.write('goods')],
    ['the head', (response) => response.writeHead(200, { 'X-Goods': 'yes' })],
    ['the headers', (response) => response.flushHeaders()],
  ])('that fails after %s loses its connection, and nothing is settled', async (_, begin) => {
    facilitator.asked.length = 0;
    answer = (response) => {
      begin(response);
      throw new Error('broken');
    };
    await expect(pay()).rejects.toThrow('fetch failed');
    expect(facilitator.asked.map(({ path }) => path)).toEqual(['/verify']);
  });

  // Prevents: a payment for a body that the handler can use is refused as if the store had failed.
  it('sells for a parsed body that cannot be written again', async () => {
    answer = (response) => response.end('goods');
    const headers = { ...VERSIONS[2].pay(), 'Content-Type': 'application/json' };
    const body = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    const response = await fetch(`${shop.url}/goods`, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([200, 'goods']);
  });

  it('that fails after nothing gets the usual error response', async () => {
    answer = () => {
      throw new Error('broken');
    };
    expect(await pay()).toBe('500 {"error":"broken"}');
  });

  it('that appends another response does not get a too short Content-Length', async () => {
    answer = (response) => {
      response.write('goods');
      response.status(500).json({ error: 'broken' });
    };
    expect(await pay()).toBe('500 goods{"error":"broken"}');
  });

  // Regression: of headers in an array, only the last of a name was sent.
  it('sends every cookie of its head', async () => {
    answer = (response) => {
      response.setHeader('Set-Cookie', 'replaced=1');
      response.writeHead(200, ['Set-Cookie', 'a=1', 'X-Goods', 'yes', 'Set-Cookie', 'b=2']).end('goods');
    };
    const response = await fetch(`${shop.url}/goods`, { headers: VERSIONS[2].pay() });
    expect([response.status, await response.text(), response.headers.get('x-goods')]).toEqual([200, 'goods', 'yes']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });
});
