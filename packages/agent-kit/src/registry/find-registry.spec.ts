import { createPublicClient, erc20Abi, http, type PublicClient } from 'viem';

import { startChain, type ChainOptions, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { expectFailure } from '../../../client/test/set-up.js';
import { AgentKit } from '../agent-kit.js';
import { CHAIN_8453 } from './base.js';
import { findRegistry } from './find-registry.js';
import { CHAIN_1328, CHAIN_1329 } from './sei.js';

describe('findRegistry', () => {
  const withChain = async (options: ChainOptions, look: (chain: Devnet) => Promise<void>) => {
    const chain = await startChain(options);
    try {
      await look(chain);
    } finally {
      await chain.stop();
    }
  };

  const onChain = (options: ChainOptions, look: (client: PublicClient) => Promise<void>) =>
    withChain(options, ({ rpcUrl }) => look(createPublicClient({ transport: http(rpcUrl) })));

  it('recognises a devnet by its code on any chain id, and lists each token with the contract’s own decimals', async () => {
    await onChain({ chainId: 31_337, protocols: true }, async (client) => {
      const registry = await findRegistry(client, 31_337);
      expect(registry).toMatchObject({ chainId: 31_337, name: 'Tollgate devnet', explorerUrl: null });
      for (const { address, symbol, decimals } of registry.tokens) {
        const read = <Name extends 'symbol' | 'decimals'>(functionName: Name) =>
          client.readContract({ address, abi: erc20Abi, functionName });
        expect(await read('decimals')).toBe(decimals);
        expect(await read('symbol')).toBe(symbol);
      }
    });
  });

  it.each([
    [1328, ['swap', 'liquidity', 'lending', 'staking', 'perps']],
    [1329, ['liquidity', 'staking', 'perps']],
  ])('reports protocols that are not deployed on chain %i as unavailable', async (chainId, missing) => {
    await withChain({ chainId }, async ({ accounts, rpcUrl }) => {
      const kit = new AgentKit(accounts[0]!.privateKey, 'offline', { rpcUrl });
      const operations: Record<string, () => Promise<unknown>> = {
        swap: () => kit.swap('1', '0x0', 'USDC'),
        liquidity: () => kit.read('getLiquidityPositions', {}),
        lending: () => kit.mintLending('USDC', '1'),
        staking: () => kit.stake('1'),
        perps: () => kit.perpsGetProducts(),
        payments: () => kit.payForResource('https://example.org/'),
      };
      for (const name of missing) {
        await expectFailure(operations[name]!(), 'PROTOCOL_UNAVAILABLE', expect.stringContaining(`${chainId}`));
      }
    });
  });

  it('knows the chains 1328, 1329 and 8453, USDC of those that settings name, and only the native token of others', async () => {
    await onChain({}, async (client) => {
      expect(await findRegistry(client, 1328)).toBe(CHAIN_1328);
      expect(await findRegistry(client, 1329)).toBe(CHAIN_1329);
      expect(await findRegistry(client, 8453)).toBe(CHAIN_8453);
      const usdc = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
      expect(await findRegistry(client, 137)).toEqual({
        chainId: 137,
        name: 'polygon',
        native: { symbol: 'POL', decimals: 18 },
        explorerUrl: 'https://polygonscan.com',
        tokens: [{ address: usdc, symbol: 'USDC', decimals: 6 }],
        payments: { network: 'polygon', tokens: [usdc] },
        protocols: [],
      });
      expect(await findRegistry(client, 5)).toEqual({
        chainId: 5,
        name: 'chain 5',
        native: { symbol: 'NATIVE', decimals: 18 },
        explorerUrl: null,
        tokens: [],
        protocols: [],
      });
    });
  });
});
