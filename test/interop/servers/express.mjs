import express from 'express';
import { announce, failure, quote } from './configuration.mjs';

/** Sells a quote behind the given payment middleware, and fails at `/broken`. */
export function serveExpress(name, paymentMiddleware) {
  const app = express();
  app.use(paymentMiddleware);
  app.get('/quote', (_request, response) => response.json(quote(name)));
  app.get('/broken', (_request, response) => response.status(500).json(failure));
  const server = app.listen(0, '127.0.0.1', () => announce(server.address().port));
}
