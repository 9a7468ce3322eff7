import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createWallet, fetchWithPayment, type Wallet } from '@tollgate/client';
import { payForTools } from '@tollgate/client/mcp';

import { transactionOf } from '../../packages/client/test/paid-tools.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { isOurs, MPP_CLIENTS, MPP_ROUTES, type Client } from './matrix.js';
import { PRICE, type Rig } from './rig/start-rig.js';
import { watchMoney } from './rig/watch-money.js';

/** Our clients by MPP: at the published server, which settles through our facilitator, and at the gateway. */
export function describePayingByMpp(rig: () => Rig): void {
  const PAID = { payer: -PRICE, payTo: PRICE };
  const base = async () => (await rig().server('mppx')).url;
  // It takes some seconds to start, which must not count for a test.
  beforeAll(base, 120_000);

  async function buy({ name }: Client, url: string, init = {}, payTo = rig().seller) {
    const { client, payer } = await rig().client(name);
    return watchMoney(rig().chain, { payer: payer.address, payTo }, () => client.fetch(url, init));
  }
  const expectMined = async (hash: unknown) =>
    expect(await callRpc(rig().chain.rpcUrl, 'eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' });
  const ours = MPP_CLIENTS.filter(isOurs);

  describe.each(MPP_ROUTES)('$packageName that asks by $asks', ({ prefix, packageName, isAlone }) => {
    it.each(MPP_CLIENTS)('is paid by $packageName, once', async (client) => {
      const { result, moved } = await buy(client, `${await base()}${prefix}/quote`);
      expect(result).toMatchObject({ status: 200, body: JSON.stringify({ symbol: 'SEI', server: packageName }) });
      expect(moved).toEqual(PAID);
      // Ours takes the offer of x402 where there is one.
      if (isAlone || !isOurs(client)) expect(result.receipt).toMatchObject({ method: 'evm', status: 'success' });
      await expectMined(result.receipt?.['reference'] ?? result.receipt?.['transaction']);
    });

    it.each(ours)('is paid by $packageName for a request with a body', async (client) => {
      const init = { method: 'POST', body: '{"a":1}', headers: { 'Content-Type': 'application/json' } };
      const { result, moved } = await buy(client, `${await base()}${prefix}/quote?by=${client.name}`, init);
      expect([result.status, moved]).toEqual([200, PAID]);
    });

    // So does every client that pays it: it settles before its handler runs.
    it('charges although its handler fails', async () => {
      const [client] = ours;
      const { result, moved } = await buy(client!, `${await base()}${prefix}/broken`);
      expect([result.status, moved]).toEqual([500, PAID]);
    });
  });

  it.each(ours)(
    'the published server is paid by $packageName beside credentials of the application',
    async (client) => {
      const init = { headers: { Authorization: 'Bearer of-the-application' } };
      const { result, moved } = await buy(client, `${await base()}/hono-mpp-auth/quote`, init);
      expect([result.status, moved]).toEqual([200, PAID]);
    },
  );

  it('a tool of the published server is paid by @tollgate/client/mcp, once', async () => {
    const { rpcUrl, chainId, asset: address, accounts } = rig().chain;
    const payer = accounts[7]!;
    const url = `${await base()}/mcp`;
    const client = new McpClient({ name: 'payer', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    try {
      const assets = [{ network: 'chain-testnet', chainId, address, decimals: 6 }];
      const wallet = createWallet({ account: payer.privateKey, rpcUrl, chainId });
      const call = payForTools(client, wallet, { server: url, assets, maxAmount: '0.001' });
      const watched = { payer: payer.address, payTo: rig().seller };
      const { result, moved } = await watchMoney(rig().chain, watched, () =>
        call({ name: 'tell', arguments: { a: 1 } }),
      );
      expect([result.content, moved]).toEqual([[{ type: 'text', text: 'told {"a":1}' }], PAID]);
      await expectMined(transactionOf(result));
    } finally {
      await client.close();
    }
  });

  describe('the gateway that asks by MPP alone', () => {
    const tap = () => rig().taps.documented;
    beforeAll(() => {
      tap().interfere(async (request, send) => {
        const answer = await send(request);
        if (answer.status !== 402) return answer;
        const headers = { ...answer.headers };
        delete headers['payment-required'];
        return { ...answer, body: '{}', headers };
      });
    });
    afterAll(() => tap().interfere());

    it.each(ours)('is paid by $packageName, by a signature', async (client) => {
      const { result, moved } = await buy(client, `${tap().url}/quote`, {}, rig().chain.payTo);
      expect([result.status, moved]).toEqual([200, PAID]);
      expect(tap().exchanges.at(-1)?.request.headers.authorization).toMatch(/^Payment /);
      await expectMined(result.receipt?.['reference']);
    });

    it('is paid by a transfer of a wallet that cannot sign', async () => {
      const { rpcUrl, chainId, asset: address, accounts } = rig().chain;
      const payer = accounts[7]!;
      const wallet = createWallet({ account: payer.privateKey, rpcUrl, chainId });
      const sending: Wallet = {
        address: wallet.address,
        chainId,
        inTurn: (work) => wallet.inTurn(work),
        sign: (call) => wallet.sign(call),
        broadcast: (transaction) => wallet.broadcast(transaction),
        readOutcome: (txHash) => wallet.readOutcome(txHash),
        readNonceUse: (from, nonce) => wallet.readNonceUse(from, nonce),
      };
      const assets = [{ network: 'chain-testnet', chainId, address, decimals: 6 }];
      const pay = fetchWithPayment(fetch, sending, { assets, maxAmount: '0.001' });
      const { result, moved } = await watchMoney(rig().chain, { payer: payer.address }, () =>
        pay(`${tap().url}/quote`),
      );
      expect([result.status, moved]).toEqual([200, PAID]);
    });
  });
}
