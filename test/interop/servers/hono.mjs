import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { announce, failure, quote } from './configuration.mjs';

/** Sells a quote behind the given payment middleware, and fails at `/broken`. */
export function serveHono(name, paymentMiddleware) {
  const app = new Hono();
  app.use(paymentMiddleware);
  app.get('/quote', (context) => context.json(quote(name)));
  app.get('/broken', (context) => context.json(failure, 500));
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => announce(port));
}
