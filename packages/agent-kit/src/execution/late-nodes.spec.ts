import { erc20Abi, parseEther, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

import { LAGS, startLaggingNode, type Lag } from '../../../../test/harness/network/lagging-node.js';
import { startRpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { useChain } from '../../../client/test/set-up.js';
import { createFundedKit } from '../../test/create-funded-kit.js';
import type { ToolResult } from '../types/tool-result.js';

const LATE_MS = 400;
const NEVER_MS = 600_000;

describe('behind a node that is late', () => {
  const chain = useChain({ protocols: true });

  const newReceiver = (): Hex => privateKeyToAddress(generatePrivateKey());
  /** A kit with funds that its node knows of. */
  const lateKit = async (lags: readonly Lag[], behindMs: number, attempts = 500) => {
    const node = await startLaggingNode(chain.rpcUrl, lags, behindMs);
    const monitor = { attempts, intervalMs: 20 };
    const kit = await createFundedKit(chain, { rpcUrl: node.rpcUrl, monitor });
    await node.catchUp();
    return { kit, node };
  };

  it.each([...LAGS.map((lag) => [lag, [lag]] as const), ['all', LAGS] as const])(
    'in its %s, two equal transfers are two',
    async (_, lags) => {
      const { kit, node } = await lateKit(lags, LATE_MS);
      const to = newReceiver();
      const results: ToolResult[] = [];
      for (let call = 0; call < 2; call += 1) results.push(await kit.transfer('0.5', to));
      await node.stop();
      expect(results.map(({ status }) => status)).toEqual(['success', 'success']);
      expect(new Set(results.map(({ result }) => result)).size).toBe(2);
      expect(await chain.balanceOf(to)).toBe(parseEther('1'));
    },
  );

  it.each(['state', 'latest'] as const)('in its %s, a swap sees its own approval', async (lag) => {
    const { kit, node } = await lateKit([lag], LATE_MS);
    const result = await kit.swap('1', 'USDC', 'WSEI');
    await node.stop();
    expect(result).toMatchObject({ status: 'success', transactions: [{}, {}] });
    expect(result).not.toHaveProperty('warnings');
  });

  it('for good, a swap that has approved ends, and names the allowance that stands', async () => {
    const { kit, node } = await lateKit(['state'], NEVER_MS, 10);
    const { steps } = await kit.plan('swap', { amount: '1', fromToken: 'USDC', toToken: 'WSEI' });
    const spender = steps[0]!.approval!.spender;
    const result = await kit.swap('1', 'USDC', 'WSEI');
    await node.stop();
    expect(result).toMatchObject({ status: 'failed', code: 'NETWORK_ERROR', transactions: [{}] });
    expect(result.error).toMatch(/the network .*is behind/i);
    expect(result.warnings).toEqual([expect.stringContaining(`USDC for ${spender} may still stand`)]);
    const args = [kit.address, spender] as const;
    const token = { address: chain.asset, abi: erc20Abi } as const;
    expect(await chain.client.readContract({ ...token, functionName: 'allowance', args })).toBe(1_000_000n);
  });

  it('in its state, the balance that is shown is that after the transfer', async () => {
    const { kit, node } = await lateKit(['state'], LATE_MS);
    const before = await kit.getERC20Balance('USDC');
    await kit.transfer('1', newReceiver(), 'USDC');
    expect(Number(before) - Number(await kit.getERC20Balance('USDC'))).toBe(1);
    await node.stop();
  });

  it('fails an operation whose nonce another program with the key has taken, and names its transaction', async () => {
    const proxy = await startRpcProxy(chain.rpcUrl);
    const kit = await createFundedKit({ ...chain, rpcUrl: proxy.rpcUrl });
    await callRpc(chain.rpcUrl, 'anvil_impersonateAccount', [kit.address]);
    let by: unknown = null;
    proxy.intercept('eth_sendRawTransaction', async (_call, forward) => {
      by ??= await callRpc(chain.rpcUrl, 'eth_sendTransaction', [
        { from: kit.address, to: newReceiver(), value: '0x1' },
      ]);
      return { body: await forward() };
    });
    const to = newReceiver();
    const result = await kit.transfer('0.5', to);
    await proxy.stop();
    expect(result).toMatchObject({ status: 'failed', code: 'NONCE_TAKEN' });
    expect(result.error).toContain(`${String(by)} was mined with its nonce`);
    expect(await chain.balanceOf(to)).toBe(0n);
  });
});
