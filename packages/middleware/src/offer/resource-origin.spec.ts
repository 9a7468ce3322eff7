import type { RequestListener } from 'node:http';

import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';

import { ASSET, PAY_TO } from '../../test/create-payment.js';
import { listen, serveFetch, type Shop } from '../../test/serve-fetch.js';
import { paid as paidExpress } from '../express.js';
import { paid as paidFastify } from '../fastify.js';
import type { GateOptions } from '../gate/gate-options.js';
import { PaymentGate } from '../gate/gate.js';
import { paid as paidHono } from '../hono.js';

const OFFER = { price: '0.001' };

/** Servers that trust the proxy before them, or not. */
const SHOPS: Readonly<Record<string, (gate: PaymentGate, trusts: boolean) => Promise<Shop>>> = {
  express: (gate, trusts) => {
    const app = express().set('trust proxy', trusts);
    app.get('/goods', paidExpress(gate, OFFER));
    return listen(app as RequestListener);
  },
  fastify: async (gate, trusts) => {
    const app = fastify({ trustProxy: trusts });
    app.get('/goods', paidFastify(gate, OFFER), async () => 'goods');
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, server: app.server, stop: () => app.close() };
  },
  hono: (gate) => {
    const app = new Hono();
    app.get('/goods', paidHono(gate, OFFER));
    return listen(serveFetch((request) => app.fetch(request)));
  },
};

describe.each(Object.keys(SHOPS))('the URL of a resource behind a proxy, of %s', (name) => {
  const shops: Shop[] = [];
  const troubles: string[] = [];

  afterEach(async () => {
    for (const shop of shops.splice(0)) await shop.stop();
    troubles.length = 0;
  });

  async function open(trusts: boolean, options: Partial<GateOptions> = {}): Promise<Shop> {
    const gate = new PaymentGate({
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      facilitator: { url: 'http://127.0.0.1:1' },
      ...(name === 'hono' && { trustProxy: trusts }),
      onTrouble: ({ message }) => troubles.push(message),
      ...options,
    });
    const shop = await SHOPS[name]!(gate, trusts);
    shops.push(shop);
    return shop;
  }

  const FORWARDED = { 'X-Forwarded-Host': 'shop.example:8443', 'X-Forwarded-Proto': 'https' };
  async function readResource({ url }: Shop, headers: Record<string, string>): Promise<string | undefined> {
    const response = await fetch(`${url}/goods?token=secret`, { headers });
    return ((await response.json()) as { accepts: { resource: string }[] }).accepts[0]?.resource;
  }

  it('is what a trusted proxy forwards', async () => {
    const shop = await open(true);
    expect(await readResource(shop, FORWARDED)).toBe('https://shop.example:8443/goods');
    expect(await readResource(shop, {})).toBe(`${shop.url}/goods`);
    expect(troubles).toEqual([]);
  });

  it('is that of the request where no proxy is trusted, and its owner is told once', async () => {
    const shop = await open(false);
    for (let times = 0; times < 3; times++) expect(await readResource(shop, FORWARDED)).toBe(`${shop.url}/goods`);
    expect(troubles).toEqual([
      `A proxy forwards requests to https://shop.example:8443, and their payments are for ${shop.url}. Set publicUrl, or have your framework or trustProxy trust the proxy.`,
    ]);
  });

  it('is publicUrl whatever is forwarded, and its owner is told once of another one', async () => {
    const shop = await open(true, { publicUrl: 'https://shop.example:8443/' });
    expect(await readResource(shop, FORWARDED)).toBe('https://shop.example:8443/goods');
    expect(troubles).toEqual([]);
    const other = { ...FORWARDED, 'X-Forwarded-Host': 'other.example' };
    for (let times = 0; times < 3; times++)
      expect(await readResource(shop, other)).toBe('https://shop.example:8443/goods');
    expect(troubles).toHaveLength(1);
  });

  it.each(['no host', 'a@b.example', `${'h'.repeat(300)}.example`])(
    'is under no host that is none: %j',
    async (host) => {
      const shop = await open(true);
      const resource = await readResource(shop, { 'X-Forwarded-Host': host });
      expect([`${shop.url}/goods`, 'http://localhost/goods', 'http://b.example/goods']).toContain(resource);
      expect(troubles).toEqual([]);
    },
  );
});

describe('a price of 0', () => {
  it.each(['0', '0.000000', '00'])('is refused: %j', (price) => {
    const gate = new PaymentGate({
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      facilitator: { url: 'http://127.0.0.1:1' },
    });
    expect(() => gate.sell({ price })).toThrow('The price is 0, which nobody can pay.');
    expect(() => gate.sell({ price: '1', settle: 'sometimes' as never })).toThrow(
      "settle is neither 'before' nor 'after'",
    );
  });
});
