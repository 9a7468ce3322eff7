// A server in its own process that sells its upstream's responses; the tests kill it.
import { writeSync } from 'node:fs';
import type { AddressInfo } from 'node:net';

import { PaymentGate, type GateOptions, type OwedPayment } from '@tollgate/middleware';
import { paid } from '@tollgate/middleware/express';
import { RedisStore } from '@tollgate/middleware/redis';
import express from 'express';
import { Redis } from 'ioredis';

export interface ShopConfiguration {
  readonly gate: GateOptions;
  readonly redisUrl: string;
  readonly upstreamUrl: string;
  /** Its clock is ahead of that of the test. */
  readonly clockAheadMs?: number;
  /** It is killed as soon as it has said what is owed. */
  readonly diesWhenOwed?: boolean;
}

const configuration = JSON.parse(process.env['SHOP'] ?? '') as ShopConfiguration;
const { gate, redisUrl, upstreamUrl, clockAheadMs = 0, diesWhenOwed = false } = configuration;
const readClock = Date.now;
Date.now = () => readClock() + clockAheadMs;
const onOwed = ({ payment }: OwedPayment): void => {
  writeSync(1, `owed ${payment}\n`);
  if (diesWhenOwed) process.kill(process.pid, 'SIGKILL');
};
const store = new RedisStore(new Redis(redisUrl), { timeoutMs: 60_000 });
const app = express();
app.get('/goods', paid(new PaymentGate({ ...gate, store, onOwed }), { price: '0.001' }), async (_request, response) => {
  response.send(await (await fetch(upstreamUrl)).text());
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
