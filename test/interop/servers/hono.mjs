import { serve } from '@hono/node-server';
import { Hono } from 'hono';

import { announce, failure, quote, spent } from './configuration.mjs';

/**
 * Sells a quote behind the given payment middleware, and fails at `/broken` and with `?fails`. `charge` reports the
 * amount used of a metered payment.
 */
export function serveHono(name, paymentMiddleware, charge) {
  const app = new Hono();
  app.use(paymentMiddleware);
  app.use((context, next) => (context.req.query('fails') === undefined ? next() : context.json(failure, 500)));
  app.get('/quote', (context) => context.json(quote(name)));
  app.get('/permit2', (context) => context.json(quote(name)));
  app.get('/metered', (context) => {
    charge(context, spent);
    return context.json(quote(name));
  });
  app.get('/broken', (context) => context.json(failure, 500));
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => announce(port));
}
