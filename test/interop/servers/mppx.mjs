// The published server of MPP with our facilitator, each way under a prefix of its own. `/express` and `/hono` are as it
// ships: EVM charges are asked for by x402 version 2 too. `/express-mpp` and `/hono-mpp` ask by MPP alone, because the
// method has lost its transport, which adds x402; so does `/mcp`, for which that transport is of no use.
import { createServer } from 'node:http';

import { getRequestListener } from '@hono/node-server';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import express from 'express';
import { Hono } from 'hono';
import { Mppx as MppxExpress } from 'mppx/express';
import { Mppx as MppxHono } from 'mppx/hono';
import { evm, Mppx, Transport } from 'mppx/server';

import { announce, configuration, failure, quote } from './configuration.mjs';

const { chainId, asset, assetName, assetVersion, payTo, facilitatorUrl, facilitatorHeaders } = configuration;
const secretKey = 'a secret of the server, for its challenges alone';
const charge = evm.charge({
  chainId,
  currency: asset,
  decimals: 6,
  recipient: payTo,
  authorization: { name: assetName, version: assetVersion },
  x402: {
    facilitator: facilitatorUrl,
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...facilitatorHeaders } }),
  },
});
const alone = { ...charge, transport: undefined };
const price = { amount: '0.001' };
const create = (made, method, options = {}) => made.create({ methods: [method], secretKey, ...options });

const expressApp = express();
const honoApp = new Hono();
for (const [suffix, method, options] of [
  ['', charge, {}],
  ['-mpp', alone, {}],
  // Beside credentials of the application, which are in `Authorization`.
  ['-mpp-auth', alone, { requiresAuth: true }],
]) {
  const byExpress = create(MppxExpress, method, options).charge(price);
  const byHono = create(MppxHono, method, options).charge(price);
  expressApp.all(`/express${suffix}/quote`, byExpress, (_request, response) => response.json(quote('mppx/express')));
  expressApp.get(`/express${suffix}/broken`, byExpress, (_request, response) => response.status(500).json(failure));
  honoApp.all(`/hono${suffix}/quote`, byHono, (context) => context.json(quote('mppx/hono')));
  honoApp.get(`/hono${suffix}/broken`, byHono, (context) => context.json(failure, 500));
}

const tools = create(Mppx, alone, { transport: Transport.mcpSdk() });
function createTools() {
  const server = new Server({ name: 'mppx', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const result = await tools.charge(price)({ _meta: params._meta });
    if (result.status === 402) throw result.challenge;
    return result.withReceipt({ content: [{ type: 'text', text: `told ${JSON.stringify(params.arguments)}` }] });
  });
  return server;
}

async function callTool(request, response) {
  const server = createTools();
  const transport = new StreamableHTTPServerTransport({});
  response.on('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

const honoListener = getRequestListener(honoApp.fetch);
const server = createServer((request, response) => {
  if (request.url === '/mcp') void callTool(request, response);
  else if (request.url.startsWith('/hono')) void honoListener(request, response);
  else expressApp(request, response);
});
server.listen(0, '127.0.0.1', () => announce(server.address().port));
