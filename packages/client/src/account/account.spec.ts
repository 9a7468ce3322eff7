import { numberToHex, parseEther, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

import { refusal, type Interception } from '../../../../test/harness/network/rpc-proxy.js';
import { awaitReceipt } from '../../../../test/harness/payments/await-receipt.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useProxy } from '../../test/set-up.js';
import { createWallet, type WalletOptions } from './create-wallet.js';
import { signAndSend } from './send.js';
import type { SignedTransaction } from './signed-transaction.js';
import type { Account, Call } from './wallet.js';

const RECEIVER: Hex = '0x00000000000000000000000000000000000a11ce';
const DELEGATION: Hex = `0xef0100${'ab'.repeat(20)}`;
const PATIENCE = { attempts: 100, intervalMs: 20 };
const ONE: Call = { to: RECEIVER, data: '0x', value: 1n };

describe('an account', () => {
  const chain = useChain();
  const proxy = useProxy(chain);
  let privateKey: Hex;
  let account: Account;

  beforeEach(async () => {
    await rpc('evm_setAutomine', true);
    // One of its own, so that the tests share no nonces.
    privateKey = generatePrivateKey();
    await fund(privateKeyToAddress(privateKey));
    account = createAccount();
  });

  const rpc = (method: string, ...params: unknown[]) => callRpc(chain.rpcUrl, method, params);
  const fund = (address: Hex) => rpc('anvil_setBalance', address, numberToHex(parseEther('10')));
  const createAccount = (change: Partial<WalletOptions> = {}) =>
    createWallet({ account: privateKey, rpcUrl: proxy.rpcUrl, chainId: chain.chainId, patience: PATIENCE, ...change });
  const send = (call = ONE, from = account): Promise<SignedTransaction> =>
    from.inTurn(() => signAndSend<Call, SignedTransaction>(from, call));
  const transactionOf = ({ txHash: hash }: SignedTransaction) => chain.client.getTransaction({ hash });
  const sendings = () => proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').length;
  const change =
    (edit: (result: never) => unknown): Interception =>
    async (_call, forward) => {
      const answer = JSON.parse(await forward()) as { result: never };
      return { body: JSON.stringify({ ...answer, result: edit(answer.result) }) };
    };

  describe('signs', () => {
    it('other bytes for each call, also with the same nonce', async () => {
      const signed = await Promise.all(Array.from({ length: 20 }, () => account.sign(ONE)));
      expect(new Set(signed.map(({ nonce }) => nonce)).size).toBe(1);
      expect(new Set(signed.map(({ txHash }) => txHash)).size).toBe(20);
    });

    it('no nonce twice, although the node never counts what was sent', async () => {
      proxy.intercept('eth_getTransactionCount', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":"0x0"}' }));
      const nonces = [];
      for (let call = 0; call < 3; call += 1) {
        const signed = await send();
        nonces.push(signed.nonce);
        expect(await account.confirm(signed)).toMatchObject({ outcome: 'success' });
      }
      expect(nonces).toEqual([0, 1, 2]);
      await expectFailure(account.sign({ ...ONE, nonce: 1 }), 'cannot_pay');
    });

    it('the next nonce behind one that the node has dropped, and sends that again', async () => {
      await rpc('evm_setAutomine', false);
      const first = await send();
      await rpc('anvil_dropTransaction', first.txHash);
      const second = await send(ONE, createAccount());
      expect([first.nonce, second.nonce]).toEqual([0, 1]);
      await rpc('evm_mine');
      expect(await account.confirm(first)).toMatchObject({ outcome: 'success' });
      expect(await account.confirm(second)).toMatchObject({ outcome: 'success' });
    });

    it('a nonce again whose bytes the node has dropped and now refuses', async () => {
      await rpc('evm_setAutomine', false);
      const first = await send();
      await rpc('anvil_dropTransaction', first.txHash);
      proxy.intercept('eth_sendRawTransaction', async ({ params: [raw] }, forward) =>
        raw === first.rawTransaction ? refusal(-32000, 'transaction underpriced') : { body: await forward() },
      );
      const second = await send();
      expect(second.nonce).toBe(first.nonce);
      await rpc('evm_mine');
      expect(await account.confirm(second)).toMatchObject({ outcome: 'success' });
      expect(await account.confirm(first)).toMatchObject({ outcome: 'replaced', by: second.txHash });
    });

    it('nothing on a chain that has lost its transaction, and then what that chain asks for', async () => {
      const snapshot = await rpc('evm_snapshot');
      expect(await account.confirm(await send())).toMatchObject({ outcome: 'success' });
      await rpc('evm_revert', snapshot);
      await rpc('anvil_mine', '0x2', '0x5');
      await expectFailure(account.sign(ONE), 'wrong_chain');
      expect(await account.confirm(await send())).toMatchObject({ outcome: 'success' });
    });

    it('nothing that it cannot pay for', async () => {
      await rpc('anvil_setBalance', account.address, '0x1');
      const details = { needed: expect.any(String) as string, balance: '1' };
      await expect(account.sign({ ...ONE, gas: 21_000n })).rejects.toMatchObject({ code: 'cannot_pay', details });
    });

    it('a legacy transaction on a chain without base fee', async () => {
      proxy.intercept(
        'eth_getBlockByNumber',
        change((block: object) => ({ ...block, baseFeePerGas: undefined })),
      );
      const signed = await send();
      expect(await account.confirm(signed)).toMatchObject({ outcome: 'success' });
      expect(await transactionOf(signed)).toMatchObject({ type: 'legacy' });
    });

    it('no more gas than a block has', async () => {
      proxy.intercept(
        'eth_getBlockByNumber',
        change((block: object) => ({ ...block, gasLimit: numberToHex(12_500_000) })),
      );
      const signed = await account.sign({ ...ONE, gas: 12_000_000n });
      await account.broadcast(signed);
      const { gas } = await transactionOf(signed);
      expect(gas > 12_000_000n && gas <= 12_500_000n).toBe(true);
    });

    it('the next call of an account with delegated code once the one before is mined', async () => {
      await rpc('anvil_setCode', account.address, DELEGATION);
      await rpc('evm_setAutomine', false);
      const first = await send();
      const hasty = createAccount({ patience: { attempts: 3, intervalMs: 1 } });
      await expect(send(ONE, hasty)).rejects.toMatchObject({ code: 'cannot_pay', details: { nonce: 1 } });
      const second = send();
      await rpc('evm_mine');
      expect((await second).nonce).toBe(first.nonce + 1);
    });
  });

  describe('ends at once', () => {
    it.each([200, 400, 429, 500])('when the node refuses with HTTP status %s', async (status) => {
      const refused = refusal(-32000, 'intrinsic gas too low') as { body: string };
      proxy.intercept('eth_sendRawTransaction', () => ({ ...refused, status }));
      await expect(send()).rejects.toMatchObject({
        code: 'broadcast_refused',
        details: { refusal: 'invalid', reason: 'intrinsic gas too low' },
      });
      expect(sendings()).toBe(1);
    });

    it('with new fees when the base fee has risen', async () => {
      let tries = 0;
      proxy.intercept('eth_sendRawTransaction', async (_call, forward) =>
        ++tries === 1 ? refusal(-32000, 'fee cap less than block base fee') : { body: await forward() },
      );
      expect(await account.confirm(await send())).toMatchObject({ outcome: 'success' });
      expect(sendings()).toBe(2);
    });

    it('by another server when the first does not answer', async () => {
      proxy.intercept('eth_sendRawTransaction', () => 'broken');
      const signed = await send(ONE, createAccount({ otherRpcUrls: [chain.rpcUrl] }));
      expect(await chain.client.getTransactionReceipt({ hash: signed.txHash })).toMatchObject({ status: 'success' });
    });
  });

  describe('follows its transaction', () => {
    /** Another program with the key is faster, after this one has taken the nonce. */
    const beatWith = async () => {
      await rpc('anvil_impersonateAccount', account.address);
      let by: Hex | null = null;
      proxy.intercept('eth_sendRawTransaction', async (_call, forward) => {
        by ??= (await rpc('eth_sendTransaction', { from: account.address, to: RECEIVER, value: '0x2' })) as Hex;
        // In the pool it could still be replaced.
        await awaitReceipt(chain.client, by);
        return { body: await forward() };
      });
      return () => by;
    };

    it('and says which one has taken its nonce', async () => {
      const other = await beatWith();
      await expectFailure(send(), 'wallet_unavailable');
      const signed = await account.sign({ ...ONE, nonce: 0 });
      expect(await account.confirm(signed)).toEqual({ outcome: 'replaced', by: other() });
    });

    it('and leaves it open where the other one cannot be read', async () => {
      await beatWith();
      const signed = await account.sign(ONE);
      await account.broadcast(signed).catch(() => undefined);
      proxy.intercept('eth_getBlockByNumber', () => refusal(-32000, 'missing trie node'));
      expect(await account.confirm(signed, { attempts: 3, intervalMs: 1 })).toEqual({ outcome: 'unknown' });
    });

    it('and takes no receipt of other bytes for its own, when the pool knows every transaction', async () => {
      proxy.intercept('eth_sendRawTransaction', () => refusal(-32000, 'already known'));
      const signed = await send();
      expect(await account.confirm(signed, { attempts: 3, intervalMs: 1 })).toEqual({ outcome: 'unknown' });
    });

    it('and reads the state of its block, however long the node is behind', async () => {
      const { blockNumber } = await confirmed();
      const balances: unknown[] = [];
      let asked = 0;
      proxy.intercept('eth_getBalance', async (call, forward) => {
        balances.push(call.params[1]);
        return ++asked < 5 ? refusal(-32000, 'header not found') : { body: await forward() };
      });
      proxy.intercept('eth_blockNumber', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":"0x1"}' }));
      await account.sign({ ...ONE, gas: 21_000n });
      expect(balances).toEqual(Array(5).fill(numberToHex(blockNumber)));
    });

    it('and is content with the state of its block while that of the head is behind', async () => {
      const { blockNumber } = await confirmed();
      await rpc('evm_mine');
      const balances: unknown[] = [];
      proxy.intercept('eth_getBalance', async (call, forward) => {
        balances.push(call.params[1]);
        return balances.length === 1 ? refusal(-32000, 'header not found') : { body: await forward() };
      });
      await account.sign({ ...ONE, gas: 21_000n });
      expect(balances).toEqual([numberToHex(blockNumber + 1n), numberToHex(blockNumber)]);
    });

    it('and says that the node is behind when it stays so', async () => {
      const { blockNumber } = await confirmed();
      proxy.intercept('eth_getBalance', () => refusal(-32000, 'header not found'));
      const hasty = createAccount({ patience: { attempts: 3, intervalMs: 1 } });
      await expect(hasty.sign({ ...ONE, gas: 21_000n })).rejects.toMatchObject({
        code: 'wallet_unavailable',
        message: expect.stringContaining(`does not have block ${blockNumber}`) as string,
      });
    });

    const confirmed = async () => {
      const confirmation = await account.confirm(await send());
      if (!('receipt' in confirmation)) throw new Error('it was not mined');
      return confirmation.receipt;
    };
  });

  describe('replaces a transaction that is not mined', () => {
    beforeEach(() => rpc('evm_setAutomine', false));

    it('by the same call for higher fees', async () => {
      const slow = await send({ ...ONE, value: 7n });
      const fast = await account.inTurn(() => account.speedUp(slow.txHash));
      await rpc('evm_mine');
      expect(await account.confirm(fast)).toMatchObject({ outcome: 'success' });
      expect(await account.confirm(slow)).toEqual({ outcome: 'replaced', by: fast.txHash });
      expect(await transactionOf(fast)).toMatchObject({ to: RECEIVER, value: 7n, nonce: slow.nonce });
    });

    it('by nothing, with as much gas as the chain asks for a transfer', async () => {
      const unwanted = await send();
      proxy.intercept('eth_estimateGas', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":"0x7530"}' }));
      const cancelled = await account.inTurn(() => account.cancel(unwanted.txHash));
      await rpc('evm_mine');
      expect(await account.confirm(cancelled)).toMatchObject({ outcome: 'success' });
      const { value, to, gas } = await transactionOf(cancelled);
      expect([value, to, gas >= 30_000n]).toEqual([0n, account.address.toLowerCase(), true]);
    });

    it('and none that is mined, or of another account', async () => {
      const mined = await send();
      await rpc('evm_mine');
      await expectFailure(account.speedUp(mined.txHash), 'cannot_pay');
      const foreign = await send();
      privateKey = generatePrivateKey();
      await expectFailure(createAccount().cancel(foreign.txHash), 'cannot_pay');
    });
  });
});
