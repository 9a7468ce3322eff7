import { usePaymentsFile } from '@tollgate/config';
import { createPublicClient, erc20Abi, http, type Hex } from 'viem';

import type { Devnet } from './chain.js';
import { startTwoChains, type TwoChains } from './two-chains.js';

describe('two chains', () => {
  let chains: TwoChains;

  beforeAll(async () => {
    chains = await startTwoChains();
  });

  afterAll(async () => {
    await chains.stop();
  });

  const ask = ({ rpcUrl }: Devnet) => createPublicClient({ transport: http(rpcUrl) });
  const read = (chain: Devnet, token: Hex, functionName: 'name' | 'symbol' | 'decimals') =>
    ask(chain).readContract({ address: token, abi: erc20Abi, functionName });

  it('have ids of their own', async () => {
    expect(await ask(chains.first).getChainId()).toBe(1328);
    expect(await ask(chains.second).getChainId()).toBe(84532);
  });

  it.each(['first', 'second'] as const)('have a million WDEV for each payer on the %s', async (which) => {
    const chain = chains[which];
    expect(await read(chain, chain.plainToken, 'name')).toBe('Dev Ether');
    expect(await read(chain, chain.plainToken, 'symbol')).toBe('WDEV');
    expect(await read(chain, chain.plainToken, 'decimals')).toBe(18);
    for (const { address } of chain.accounts) {
      const args = [address] as const;
      const token = { address: chain.plainToken, abi: erc20Abi } as const;
      expect(await ask(chain).readContract({ ...token, functionName: 'balanceOf', args })).toBe(10n ** 24n);
    }
  });

  it('have USDC of one EIP-712 domain but for the chain id', async () => {
    const domains = await Promise.all(
      [chains.first, chains.second].map((chain) => ask(chain).getEip712Domain({ address: chain.asset })),
    );
    const { asset } = chains.first;
    expect(domains.map(({ domain }) => domain)).toMatchObject([
      { name: 'USDC', version: '2', chainId: 1328, verifyingContract: asset },
      { name: 'USDC', version: '2', chainId: 84532, verifyingContract: asset },
    ]);
  });

  it('are sold for by three options of a payments file', () => {
    const { payments, problems } = usePaymentsFile({ PAYMENTS_FILE: chains.paymentsFile }, new Set(['PAYMENTS_FILE']));
    expect(problems).toEqual([]);
    const { options = [] } = payments ?? {};
    expect(
      options.map(({ name, chain, symbol, decimals, rate, methods }) => [
        name,
        chain.id,
        symbol,
        decimals,
        rate,
        methods,
      ]),
    ).toEqual([
      ['usdc-devnet', 1328, 'USDC', 6, '1', null],
      ['usdc-devnet-2', 84532, 'USDC', 6, '1', null],
      ['wdev-devnet-2', 84532, 'WDEV', 18, '0.0004', ['permit2', 'transfer']],
    ]);
    expect(options.map(({ chain }) => chain.rpc)).toEqual([
      ['${DEVNET_RPC_URL}'],
      ['${DEVNET_2_RPC_URL}'],
      ['${DEVNET_2_RPC_URL}'],
    ]);
  });
});
