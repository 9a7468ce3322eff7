import { numberToHex } from 'viem';

import { refusal } from '../../../../test/harness/network/rpc-proxy.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { listTransfers, startPaidServer } from '../../test/paid-server.js';
import { assetOf, expectFailure, useChain, useMade, useProxy, useServer, useTransfers } from '../../test/set-up.js';
import { createWallet } from '../account/create-wallet.js';
import type { PaymentEvent, PaymentOptions } from '../sign/payment-options.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

describe('a payment behind an RPC server of several nodes', () => {
  const chain = useChain();
  const server = useServer(() => startPaidServer(chain));
  const proxy = useProxy(chain);
  const store = useMade(() => new MemoryPaymentStore());
  let onEvent: jest.Mock<void, [PaymentEvent]>;
  const payer = () => chain.accounts[2]!;
  const buy = (change: Partial<PaymentOptions> = {}, by = payer()) =>
    fetchWithPayment(fetch, createWallet({ account: by.privateKey, rpcUrl: proxy.rpcUrl, chainId: chain.chainId }), {
      assets: [assetOf(chain)],
      maxAmount: '0.001',
      store,
      onEvent: (event) => void onEvent(event),
      ...change,
    })(server.url);
  const transfers = useTransfers(chain, () => payer().address);
  const storedPayment = async () => (await store.list())[0]!.payment;
  /** A payment of which the chain has refused the transaction. */
  const signUnsent = async () => {
    proxy.intercept('eth_sendRawTransaction', () => refusal(-32000, 'transaction underpriced'));
    await expectFailure(buy({ deadlineMs: 500 }), 'broadcast_refused');
    const { transaction } = await storedPayment();
    proxy.intercept('eth_sendRawTransaction', async ({ params: [raw] }, forward) =>
      raw === transaction?.rawTransaction ? refusal(-32000, 'transaction underpriced') : { body: await forward() },
    );
    return transaction!;
  };
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
  const makeFinal = () => callRpc(chain.rpcUrl, 'anvil_mine', ['0x80']);
  const sendings = () => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length;

  beforeEach(async () => {
    onEvent = jest.fn();
  });
  afterEach(() => jest.restoreAllMocks());

  it('is made once, and sent once, although its transaction is seen late', async () => {
    const seenAtMs = Date.now() + 2000;
    hideTransactions(() => Date.now() < seenAtMs);
    expect((await buy()).status).toBe(200);
    expect(Date.now()).toBeGreaterThan(seenAtMs);
    expect(await transfers()).toHaveLength(1);
    expect(sendings()).toBe(1);
    expect((await storedPayment()).state).toBe('redeemed');
  });

  it('is made once, although its receipt is hidden for ten minutes and its block is final', async () => {
    hideTransactions(() => true);
    await expectFailure(buy({ deadlineMs: 500 }), 'payment_pending');
    const { transaction } = await storedPayment();
    await makeFinal();
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
    await expectFailure(buy({ deadlineMs: 500 }), 'payment_pending');
    hideTransactions(() => false);
    expect((await buy()).status).toBe(200);
    expect(await transfers()).toEqual([transaction?.txHash]);
    expect((await storedPayment()).state).toBe('redeemed');
  });

  it('is followed by a new one when another transaction has finally taken its nonce', async () => {
    const { txHash } = await signUnsent();
    const by = await transferTokens(chain, {
      from: payer().address,
      to: chain.accounts[0]!.address,
      amountBaseUnits: 1n,
    });
    await expect(buy()).rejects.toMatchObject({ code: 'payment_pending', details: { txHash, by } });
    expect(await transfers()).toEqual([]);
    await makeFinal();
    expect((await buy()).status).toBe(200);
    const paid = await transfers();
    expect(paid).toHaveLength(1);
    expect(paid).not.toContain(txHash);
  });

  it('stays the only one while the chain cannot be read so far back that the other transaction is found', async () => {
    await signUnsent();
    await transferTokens(chain, { from: payer().address, to: chain.accounts[0]!.address, amountBaseUnits: 1n });
    await makeFinal();
    proxy.intercept('eth_getTransactionCount', async ({ params: [, block] }, forward) =>
      String(block).startsWith('0x') ? refusal(-32000, 'missing trie node') : { body: await forward() },
    );
    await expectFailure(buy({ deadlineMs: 500 }), 'broadcast_refused');
    expect(await transfers()).toEqual([]);
    expect((await storedPayment()).state).toBe('signed');
  });

  it('is not replaced because of the nonces of another wallet, which can redeem it', async () => {
    const other = chain.accounts[3]!;
    const { txHash, nonce } = await signUnsent();
    await callRpc(chain.rpcUrl, 'anvil_setNonce', [other.address, numberToHex(nonce + 1)]);
    await expectFailure(buy({}, other), 'broadcast_refused');
    proxy.intercept('eth_sendRawTransaction', async (_call, forward) => ({ body: await forward() }));
    expect((await buy({}, other)).status).toBe(200);
    expect(await transfers()).toEqual([txHash]);
    expect(await listTransfers(chain, other.address)).toEqual([]);
  });

  it('is signed anew at once when the base fee has risen above its fees', async () => {
    let refusals = 0;
    proxy.intercept('eth_sendRawTransaction', async (_call, forward) =>
      ++refusals <= 2 ? refusal(-32000, 'max fee per gas less than block base fee') : { body: await forward() },
    );
    expect((await buy()).status).toBe(200);
    expect([sendings(), (await transfers()).length]).toEqual([3, 1]);
    const { transaction } = await storedPayment();
    expect(await transfers()).toEqual([transaction?.txHash]);
  });
});
