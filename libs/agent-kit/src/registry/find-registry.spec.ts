import { createPublicClient, erc20Abi, http, type PublicClient } from 'viem';

import { startChain, type ChainOptions } from '../../../../devnet/chain.js';
import { CHAIN_1328 } from './chain-1328.js';
import { CHAIN_1329 } from './chain-1329.js';
import { findRegistry } from './find-registry.js';

describe('findRegistry', () => {
  const onChain = async <T>(options: ChainOptions, look: (client: PublicClient) => Promise<T>) => {
    const chain = await startChain(options);
    try {
      return await look(createPublicClient({ transport: http(chain.rpcUrl) }));
    } finally {
      await chain.stop();
    }
  };

  it('tells a devnet by its code on any chain id, and lists each token with the contract’s own decimals', async () => {
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

  it('knows the chains 1328 and 1329, and of others the native token alone', async () => {
    await onChain({}, async (client) => {
      expect(await findRegistry(client, 1328)).toBe(CHAIN_1328);
      expect(await findRegistry(client, 1329)).toBe(CHAIN_1329);
      expect(await findRegistry(client, 5)).toEqual({
        chainId: 5,
        name: 'chain 5',
        native: { symbol: 'NATIVE', decimals: 18 },
        explorerUrl: null,
        wrappedNative: null,
        tokens: [],
        protocols: [],
      });
    });
  });
});
