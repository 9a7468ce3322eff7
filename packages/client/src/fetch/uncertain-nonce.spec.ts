import { numberToHex } from 'viem';

import { refusal, startRpcProxy, type RpcCall, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { listTransfers, startPaidServer, type PaidServer } from '../../test/paid-server.js';
import type { PaymentEvent, PaymentOptions } from '../sign/payment-options.js';
import { createWallet } from '../sign/wallet.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

describe('a payment behind an RPC server of several nodes, on a chain whose newest block is final', () => {
  let chain: Devnet;
  let server: PaidServer;
  let proxy: RpcProxy;
  let store: MemoryPaymentStore;
  let onEvent: jest.Mock<void, [PaymentEvent]>;
  let paidBefore: number;
  const payer = () => chain.accounts[2]!;
  const buy = (change: Partial<PaymentOptions> = {}, by = payer()) =>
    fetchWithPayment(fetch, createWallet({ account: by.privateKey, rpcUrl: proxy.rpcUrl, chainId: chain.chainId }), {
      assets: [{ network: 'chain-testnet', chainId: chain.chainId, address: chain.asset, decimals: 6 }],
      ...{ maxAmount: '0.001', store, onEvent: (event) => void onEvent(event) },
      ...change,
    })(server.url);
  const transfers = async () => (await listTransfers(chain, payer().address)).slice(paidBefore);
  const storedPayment = async () => (await store.list())[0]!.payment;
  /** A payment of which the chain has refused the transaction. */
  const signUnsent = async () => {
    proxy.intercept('eth_sendRawTransaction', () => refusal(-32000, 'transaction underpriced'));
    await expect(buy({ deadlineMs: 500 })).rejects.toMatchObject({ code: 'broadcast_refused' });
    const { transaction } = await storedPayment();
    proxy.intercept('eth_sendRawTransaction', async ({ params: [raw] }, forward) =>
      raw === transaction?.rawTransaction ? refusal(-32000, 'transaction underpriced') : { body: await forward() },
    );
    return transaction!;
  };
  /** At the first wait of a call, half a minute passes. */
  const passTimeWhenWaiting = () => {
    const now = Date.now.bind(Date);
    let aheadMs = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
    onEvent.mockImplementation(({ type }) => {
      if (type === 'waiting') aheadMs = 30_000;
    });
  };
  const taken = { type: 'waiting', reason: 'another transaction seems to have taken its nonce' };

  /** The node that answers these is behind the one that takes transactions and counts nonces. */
  const hideTransactions = (isHidden: () => boolean) => {
    for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt']) {
      proxy.intercept(method, async (_call, forward) => {
        const body = await forward();
        return { body: isHidden() ? JSON.stringify({ ...(JSON.parse(body) as object), result: null }) : body };
      });
    }
  };
  /** anvil's final block is 64 blocks behind its newest. */
  const countNewest = async (
    { params: [address, block] }: RpcCall,
    forward: () => Promise<string>,
  ): Promise<string> => {
    if (block !== 'finalized') return forward();
    const result = await callRpc(chain.rpcUrl, 'eth_getTransactionCount', [address, 'latest']);
    return JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  };

  beforeAll(async () => {
    chain = await startChain();
    proxy = await startRpcProxy(chain.rpcUrl);
  });
  afterAll(async () => {
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(async () => {
    server = await startPaidServer(chain);
    proxy.reset();
    proxy.intercept('eth_getTransactionCount', async (call, forward) => ({ body: await countNewest(call, forward) }));
    store = new MemoryPaymentStore();
    onEvent = jest.fn();
    paidBefore = (await listTransfers(chain, payer().address)).length;
  });
  afterEach(() => server.close());
  afterEach(() => jest.restoreAllMocks());

  it('is made once, and sent once, although its transaction is seen late', async () => {
    const seenAtMs = Date.now() + 2000;
    hideTransactions(() => Date.now() < seenAtMs);
    expect((await buy()).status).toBe(200);
    expect(Date.now()).toBeGreaterThan(seenAtMs);
    expect(await transfers()).toHaveLength(1);
    expect(proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction')).toHaveLength(1);
    expect((await storedPayment()).state).toBe('redeemed');
  });

  it('is made once, although its nonce is found taken before its transaction is seen', async () => {
    hideTransactions(() => true);
    await expect(buy({ deadlineMs: 500 })).rejects.toMatchObject({ code: 'payment_pending' });
    const isFoundTaken = () => onEvent.mock.calls.some(([event]) => 'reason' in event && event.reason === taken.reason);
    hideTransactions(() => !isFoundTaken());
    expect((await buy()).status).toBe(200);
    expect(onEvent).toHaveBeenCalledWith(expect.objectContaining(taken));
    expect(await transfers()).toHaveLength(1);
    expect(await storedPayment()).toMatchObject({ state: 'redeemed', nonceTakenAtMs: null });
  });

  it('is replaced by a new one within a call, when its nonce is still taken half a minute later', async () => {
    const { txHash } = await signUnsent();
    await transferTokens(chain, { from: payer().address, to: chain.accounts[0]!.address, amountBaseUnits: 1n });
    passTimeWhenWaiting();
    expect((await buy()).status).toBe(200);
    expect(onEvent).toHaveBeenCalledWith(expect.objectContaining(taken));
    const paid = await transfers();
    expect(paid).toHaveLength(1);
    expect(paid).not.toContain(txHash);
    expect(await storedPayment()).toMatchObject({ state: 'redeemed', nonceTakenAtMs: null });
  });

  it('is not replaced because of the nonces of another wallet, which can redeem it', async () => {
    const other = chain.accounts[3]!;
    const { txHash, nonce } = await signUnsent();
    await callRpc(chain.rpcUrl, 'anvil_setNonce', [other.address, numberToHex(nonce + 1)]);
    passTimeWhenWaiting();
    await expect(buy({}, other)).rejects.toMatchObject({ code: 'broadcast_refused' });
    proxy.intercept('eth_sendRawTransaction', async (_call, forward) => ({ body: await forward() }));
    expect((await buy({}, other)).status).toBe(200);
    expect(await transfers()).toEqual([txHash]);
    expect(await listTransfers(chain, other.address)).toEqual([]);
  });
});
