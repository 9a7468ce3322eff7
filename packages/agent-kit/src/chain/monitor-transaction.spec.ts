import type { Hex } from 'viem';

import { refusal, type RpcReply } from '../../../../test/harness/network/rpc-proxy.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useProxy } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import type { AgentKitOptions } from '../settings/agent-kit-options.js';

describe('the monitoring helper', () => {
  // A chain without a known explorer.
  const chain = useChain({ chainId: 31_337 });
  const proxy = useProxy(chain);
  let hash: Hex;

  beforeAll(async () => {
    hash = await transferTokens(chain, { amountBaseUnits: 1n });
  });

  const createKit = (options: AgentKitOptions = {}) =>
    kitOf(chain, 0, { rpcUrl: proxy.rpcUrl, monitor: { attempts: 5, intervalMs: 1 }, ...options });
  const lookUps = () => proxy.calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length;

  it('returns the receipt of a success, and of a failure', async () => {
    const shouted = `0x${hash.slice(2).toUpperCase()}` satisfies Hex;
    expect(await createKit().monitorTransaction(shouted)).toEqual({
      status: 'success',
      transactionHash: hash,
      blockNumber: expect.any(BigInt),
      gasUsed: expect.any(BigInt),
    });
    const failed = await transferTokens(chain, { amountBaseUnits: 10n ** 30n });
    expect(await createKit().monitorTransaction(failed)).toMatchObject({ status: 'failed', transactionHash: failed });
  });

  const answers: [string, RpcReply][] = [
    ['has no receipt yet', { body: '{"jsonrpc":"2.0","id":1,"result":null}' }],
    ['breaks', 'broken'],
    ['answers garbage', { body: 'garbage' }],
    ['answers with a value of another type', { body: '{"jsonrpc":"2.0","id":1,"result":{"status":"0x1"}}' }],
    ['answers with an error', refusal(-32000, 'header not found')],
  ];
  it.each(answers)('counts a look-up in which the node %s as one attempt', async (_, reply) => {
    let tries = 0;
    proxy.intercept('eth_getTransactionReceipt', async (__, forward) =>
      ++tries < 5 ? reply : { body: await forward() },
    );
    expect(await createKit().monitorTransaction(hash)).toMatchObject({ status: 'success' });
    expect(lookUps()).toBe(5);
  });

  it('gives up after its attempts, with a link for a manual check', async () => {
    const unknown: Hex = `0x${'ab'.repeat(32)}`;
    const withExplorer = createKit({ explorerUrl: 'https://explorer.example' });
    await expect(withExplorer.monitorTransaction(unknown)).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: `Transaction ${unknown} timed out: no receipt after 5 look-ups. It may still be mined; check https://explorer.example/tx/${unknown} manually.`,
      suggestion: expect.stringContaining('explorer'),
    });
    expect(lookUps()).toBe(5);
    await expect(createKit().monitorTransaction(unknown)).rejects.toThrow('check a block explorer manually');
  });

  it.each(['', '0x', `0x${'a'.repeat(63)}`, 'hash', null])('refuses the invalid hash %j', async (wrong) => {
    await expectFailure(createKit().monitorTransaction(wrong as Hex), 'INVALID_INPUT');
    expect(lookUps()).toBe(0);
  });

  it('finds a transaction that is mined meanwhile', async () => {
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    const pending = (await callRpc(chain.rpcUrl, 'eth_sendTransaction', [
      { from: chain.accounts[1]!.address, to: chain.payTo, value: '0x1' },
    ])) as Hex;
    proxy.intercept('eth_getTransactionReceipt', async (_, forward) => {
      if (lookUps() === 3) await callRpc(chain.rpcUrl, 'evm_mine');
      return { body: await forward() };
    });
    expect(await createKit().monitorTransaction(pending)).toMatchObject({ status: 'success' });
    expect(lookUps()).toBe(3);
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
  });
});
