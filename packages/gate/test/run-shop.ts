// A server in its own process that sells its upstream's responses; the tests kill it.
import type { AddressInfo } from 'node:net';

import { PaymentGate, type GateOptions } from '@tollgate/middleware';
import { paid } from '@tollgate/middleware/express';
import { RedisStore } from '@tollgate/middleware/redis';
import express from 'express';
import { Redis } from 'ioredis';

export interface ShopConfiguration {
  readonly gate: GateOptions;
  readonly redisUrl: string;
  readonly upstreamUrl: string;
}

const { gate, redisUrl, upstreamUrl } = JSON.parse(process.env['SHOP'] ?? '') as ShopConfiguration;
const store = new RedisStore(new Redis(redisUrl), { timeoutMs: 60_000 });
const app = express();
app.get('/goods', paid(new PaymentGate({ ...gate, store }), { price: '0.001' }), async (_request, response) => {
  response.send(await (await fetch(upstreamUrl)).text());
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
