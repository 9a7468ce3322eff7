import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { SettleResponse, VerifyResponse } from '@tollgate/protocol';

import { createPaidTools, type Wording } from '../../../packages/client/test/paid-tools.js';
import { PRICE, type Rig } from './start-rig.js';

export interface Tools {
  url: string;
  stop(): Promise<void>;
}

/** An MCP server over HTTP, without sessions, whose tools are paid through our facilitator. */
export async function startTools({ stack, chain, seller, facilitatorHeaders }: Rig, wording: Wording): Promise<Tools> {
  const x402Version = wording === 'version 1' ? 1 : 2;
  const extra = { name: 'USDC', version: '2' };
  const common = { scheme: 'exact', asset: chain.asset, payTo: seller, maxTimeoutSeconds: 60, extra };
  const texts = { resource: 'mcp://tool/tell', description: 'Tells', mimeType: 'application/json' };
  const offer =
    x402Version === 1
      ? { ...common, ...texts, network: 'sei-testnet', maxAmountRequired: String(PRICE) }
      : { ...common, network: `eip155:${chain.chainId}`, amount: String(PRICE) };
  const ask = async (path: string, paymentPayload: object): Promise<unknown> => {
    const response = await fetch(`${stack.baseUrl}/facilitator/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...facilitatorHeaders },
      body: JSON.stringify({ x402Version, paymentPayload, paymentRequirements: offer }),
    });
    return response.json();
  };
  const verify = async (payment: object) => {
    const { isValid, invalidReason = 'invalid' } = (await ask('verify', payment)) as VerifyResponse;
    return isValid ? null : invalidReason;
  };
  const settle = async (payment: object) => (await ask('settle', payment)) as SettleResponse;
  const server = createServer((request, response) => {
    // Without sessions each request has a server of its own.
    const transport = new StreamableHTTPServerTransport({});
    const tools = createPaidTools({ wording, offer: () => offer, verify, settle });
    response.on('close', () => void tools.close());
    void tools
      .connect(transport as Parameters<typeof tools.connect>[0])
      .then(() => transport.handleRequest(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
