// A TCP proxy that hands every chunk towards the target on after DELAY_MS and every answer at once, so that a request
// costs one round trip of that length: `TARGET=http://127.0.0.1:8545 DELAY_MS=50 tsx delay-proxy.ts`.
import { connect, createServer, type AddressInfo } from 'node:net';

const target = new URL(process.env['TARGET'] ?? '');
const delayMs = Number(process.env['DELAY_MS'] ?? 50);

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
  const after = (act: () => void) => void setTimeout(act, delayMs);
  client.on('data', (chunk) => after(() => upstream.write(chunk)));
  client.on('close', () => after(() => upstream.destroy()));
  client.on('error', () => upstream.destroy());
  upstream.on('data', (chunk) => client.write(chunk));
  upstream.on('close', () => client.destroy());
  upstream.on('error', () => client.destroy());
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
