import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { decodeJsonHeader, encodeJsonHeader, parsePaymentPayload, type SignedAuthorization } from '@tollgate/protocol';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { listenLocally } from '../../../tools/devnet/processes/listen-locally.js';
import { settleAuthorization } from './signing-shop.js';

export interface EchoedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface EchoShop {
  origin: string;
  /** Every request that was received. */
  seen: EchoedRequest[];
  close(): Promise<void>;
}

type Handler = (response: ServerResponse, request: EchoedRequest) => void;

const HANDLERS: Record<string, Handler> = {
  json: (response) => response.setHeader('Content-Type', 'application/json').end('{"ok":true}'),
  bytes: (response) => response.end(Buffer.from([0, 255, 1, 254])),
  long: (response) => response.end('x'.repeat(2 * 1024 * 1024)),
  missing: (response) => response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"why":"missing"}'),
  cookies: (response) => response.setHeader('Set-Cookie', ['a=1; Path=/', 'b=2; Path=/']).end('two'),
  packed: (response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync('unpacked')),
};

/**
 * A shop that sells below `/paid` what it gives away below `/free`, for signatures of x402 version 2 that it settles.
 * `/silent` never answers, and `/moved` leads to the JSON beside it.
 */
export async function startEchoShop(chain: Devnet): Promise<EchoShop> {
  const settled = new Map<string, Promise<unknown>>();
  const accepts = [
    {
      scheme: 'exact',
      network: 'eip155:1328',
      amount: '1000',
      asset: chain.asset,
      payTo: chain.payTo,
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    },
  ];
  const ask = (response: ServerResponse) => {
    const required = encodeJsonHeader({ x402Version: 2, resource: { url: shop.origin }, accepts });
    response.writeHead(402, { 'PAYMENT-REQUIRED': required }).end('{}');
  };
  /** Once for each signature, like a server that stores its answers. */
  const settle = (header: string) => {
    const payment = parsePaymentPayload(decodeJsonHeader(header, 65_536)).payment as SignedAuthorization;
    const { nonce } = payment.authorization;
    const answer = settled.get(nonce) ?? settleAuthorization(chain, payment);
    settled.set(nonce, answer);
    return answer;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', headers } = request;
    // As a proxy gets it.
    const { pathname, search } = new URL(request.url ?? '', shop.origin);
    const echoed = { method, url: pathname + search, headers, body: Buffer.concat(chunks) };
    shop.seen.push(echoed);
    const [, part, name = ''] = pathname.split('/');
    if (name === 'silent') return;
    if (name === 'moved') return void response.writeHead(302, { Location: `/${part}/json` }).end();
    const header = headers['payment-signature'];
    if (part === 'paid') {
      if (typeof header !== 'string') return ask(response);
      await settle(header);
    }
    (HANDLERS[name] ?? ((none) => void none.writeHead(400).end()))(response, echoed);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { url: origin, stop } = await listenLocally(server);
  const shop: EchoShop = {
    origin,
    seen: [],
    close: stop,
  };
  return shop;
}
