import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createWallet } from '@tollgate/client';
import { payForTools, type PayingToolCall } from '@tollgate/client/mcp';

import { transactionOf, WORDINGS } from '../../packages/client/test/paid-tools.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { PRICE, type Rig } from './rig/start-rig.js';
import { startTools, type Tools } from './rig/start-tools.js';
import { watchMoney } from './rig/watch-money.js';

/** Our client at MCP servers over HTTP, in every form of the payment request, with our gateway as their facilitator. */
export function describePayingForTools(rig: () => Rig): void {
  describe.each(WORDINGS)('a tool of an MCP server that asks in the form: %s', (wording) => {
    const client = new Client({ name: 'payer', version: '1.0.0' });
    let tools: Tools;
    let call: PayingToolCall;
    const payer = () => rig().chain.accounts[8]!;
    beforeAll(async () => {
      const { rpcUrl, chainId, asset: address } = rig().chain;
      tools = await startTools(rig(), wording);
      const transport = new StreamableHTTPClientTransport(new URL(tools.url));
      await client.connect(transport);
      const wallet = createWallet({ account: payer().privateKey, rpcUrl, chainId });
      const assets = [{ network: 'chain-testnet', chainId, address, decimals: 6 }];
      call = payForTools(client, wallet, { server: tools.url, assets, maxAmount: '0.001' });
    });
    afterAll(async () => {
      await client.close();
      await tools?.stop();
    });
    const watch = (name: string) =>
      watchMoney(rig().chain, { payer: payer().address, payTo: rig().seller }, () =>
        call({ name, arguments: { a: 1 } }),
      );

    it('is paid by @tollgate/client/mcp, once', async () => {
      const { result, moved } = await watch('tell');
      expect(result.content).toEqual([{ type: 'text', text: 'told {"a":1}' }]);
      expect(moved).toEqual({ payer: -PRICE, payTo: PRICE });
      expect(await callRpc(rig().chain.rpcUrl, 'eth_getTransactionReceipt', [transactionOf(result)])).toMatchObject({
        status: '0x1',
      });
    });

    it('charges nothing when it fails', async () => {
      const { result, moved } = await watch('fail');
      expect(result.isError).toBe(true);
      expect(moved).toEqual({ payer: 0n, payTo: 0n });
    });
  });
}
