// The container's health: GET /health/ready of the process inside, on HEALTH_PORT, or, with the argument `devnet`, an
// answer of the local chain.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

const devnet = process.argv[2] === 'devnet';
const port = devnet ? 8545 : Number(process.env.HEALTH_PORT ?? 4020);
const secure = port === 4020 && Boolean(process.env.TLS_CERT);
const body = devnet ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }) : undefined;

const request = (secure ? httpsRequest : httpRequest)({
  host: '127.0.0.1',
  port,
  path: devnet ? '/' : '/health/ready',
  method: devnet ? 'POST' : 'GET',
  headers: devnet ? { 'content-type': 'application/json' } : {},
  timeout: 2500,
  // The certificate names the public host, not the loopback address that this check uses.
  rejectUnauthorized: false,
});
request.on('response', (response) => process.exit(response.statusCode === 200 ? 0 : 1));
request.on('timeout', () => process.exit(1));
request.on('error', () => process.exit(1));
request.end(body);
