import fastify from 'fastify';

import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import { startFacilitator, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { paid } from './fastify.js';
import { PaymentGate } from './gate/gate.js';

describe('a paid Fastify route whose handler returns a Response', () => {
  let facilitator: ScriptedFacilitator;

  beforeAll(async () => {
    facilitator = await startFacilitator();
  });

  afterAll(() => facilitator.stop());

  it('sends all of its cookies, also on a replay', async () => {
    const gate = new PaymentGate({
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      facilitator: { url: facilitator.url },
    });
    const cookies = ['a=1', 'b=2'];
    const app = fastify();
    app.get('/goods', paid(gate, { price: '0.001' }), async () => {
      return new Response('the goods', { headers: cookies.map((cookie): [string, string] => ['Set-Cookie', cookie]) });
    });
    const headers = { ...VERSIONS[1].pay(), 'Idempotency-Key': 'known-to-the-payer-alone' };
    for (const isReplay of [undefined, 'true']) {
      const answer = await app.inject({ url: '/goods', headers });
      expect([answer.statusCode, answer.body]).toEqual([200, 'the goods']);
      expect(answer.headers['set-cookie']).toEqual(cookies);
      expect(answer.headers['idempotent-replayed']).toBe(isReplay);
    }
    await app.close();
  });
});
