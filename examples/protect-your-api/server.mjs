// An API that knows nothing of payments. It listens on this machine only, so that clients must go through the gateway.
import { createServer } from 'node:http';

const QUOTES = { BTC: '97500.10', ETH: '3120.45', SEI: '0.4212' };

const server = createServer((request, response) => {
  const symbol = /^\/v1\/quotes\/([A-Z]+)$/.exec(request.url ?? '')?.[1] ?? '';
  const price = QUOTES[symbol];
  response.setHeader('content-type', 'application/json');
  if (price === undefined) response.writeHead(404).end(JSON.stringify({ error: 'no such symbol' }));
  else response.end(JSON.stringify({ symbol, price, currency: 'USD' }));
});

// In a container of its own, HOST=0.0.0.0 lets the gateway's container in.
server.listen(Number(process.env.PORT ?? 9000), process.env.HOST ?? 'localhost', () => {
  console.log(`quotes at http://localhost:${server.address().port}/v1/quotes/SEI`);
});
