import express from 'express';

import { announce, failure, quote, spent } from './configuration.mjs';

/**
 * Sells a quote behind the given payment middleware, and fails at `/broken` and with `?fails`. `charge` reports the
 * amount used of a metered payment.
 */
export function serveExpress(name, paymentMiddleware, charge) {
  const app = express();
  app.use(paymentMiddleware);
  app.use((request, response, next) => ('fails' in request.query ? response.status(500).json(failure) : next()));
  app.get('/quote', (_request, response) => response.json(quote(name)));
  app.get('/permit2', (_request, response) => response.json(quote(name)));
  app.get('/metered', (_request, response) => {
    charge(response, spent);
    response.json(quote(name));
  });
  app.get('/broken', (_request, response) => response.status(500).json(failure));
  const server = app.listen(0, '127.0.0.1', () => announce(server.address().port));
}
