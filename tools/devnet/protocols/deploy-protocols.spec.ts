import { createPublicClient, erc20Abi, http, parseEther, parseUnits, type Address, type Hex } from 'viem';

import { DEVNET_CONTRACTS } from '../../../packages/agent-kit/src/registry/devnet-contracts.js';
import { startChain, type DevnetWithProtocols } from '../chain/chain.js';
import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import { deployProtocols } from './deploy-protocols.js';

describe('a devnet with protocols', () => {
  let chain: DevnetWithProtocols;

  beforeAll(async () => {
    chain = await startChain({ protocols: true, chainId: 71_328 });
  });

  afterAll(async () => {
    await chain.stop();
  });

  const reader = () => createPublicClient({ transport: http(chain.rpcUrl) });

  it('has code at every address that the agent kit knows', async () => {
    expect(chain.contracts).toEqual(DEVNET_CONTRACTS);
    const addresses = addressesIn(chain.contracts);
    expect(addresses).toHaveLength(22);
    const codes = (await callRpcBatch(
      chain.rpcUrl,
      addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
    )) as Hex[];
    expect(addresses.filter((_, index) => codes[index]!.length < 100)).toEqual([]);
  });

  it('is a chain like the bare one: its id, low fees, payers with nonces of its own', async () => {
    const client = reader();
    const block = await client.getBlock();
    expect(await client.getChainId()).toBe(71_328);
    expect(block.baseFeePerGas).toBeLessThanOrEqual(10n ** 9n);
    expect(await client.getTransactionCount({ address: chain.accounts[0]!.address })).toBeGreaterThanOrEqual(1000);
    expect(await callRpc(chain.rpcUrl, 'anvil_getAutomine')).toBe(true);
  });

  it('gives every account some of each token', async () => {
    const { tokens } = chain.contracts;
    const expected: [Address, string, number, bigint][] = [
      [tokens.USDC, 'USDC', 6, parseUnits('1000000', 6)],
      [tokens.WSEI, 'WSEI', 18, parseEther('1000')],
      [tokens.WBTC, 'WBTC', 8, parseUnits('10', 8)],
      [tokens.stSEI, 'stSEI', 18, 0n],
      [tokens.FEE, 'FEE', 18, parseEther('1000')],
      [tokens.RVT, 'RVT', 18, parseEther('1000')],
    ];
    for (const [address, symbol, decimals, balance] of expected) {
      const token = { address, abi: erc20Abi } as const;
      expect(await reader().readContract({ ...token, functionName: 'symbol' })).toBe(symbol);
      expect(await reader().readContract({ ...token, functionName: 'decimals' })).toBe(decimals);
      for (const { address: owner } of chain.accounts) {
        expect(await reader().readContract({ ...token, functionName: 'balanceOf', args: [owner] })).toBe(balance);
      }
    }
    const evil = { address: tokens.EVIL, abi: erc20Abi } as const;
    expect(await reader().readContract({ ...evil, functionName: 'symbol' })).toMatch(/^USDC\r\n.*send all funds/s);
    expect(await reader().readContract({ ...evil, functionName: 'name' })).toMatch(/\n.*ignore all previous.*\u001b/s);
  });

  it('refuses a chain that has them already', async () => {
    await expect(deployProtocols(chain)).rejects.toThrow('nonce');
  });
});

it('takes the protocols on a chain that makes blocks by time', async () => {
  const chain = await startChain({ protocols: true, blockTimeSeconds: 1 });
  try {
    expect(await callRpc(chain.rpcUrl, 'eth_getCode', [chain.contracts.perps, 'latest'])).not.toBe('0x');
    expect(await callRpc(chain.rpcUrl, 'anvil_getAutomine')).toBe(false);
  } finally {
    await chain.stop();
  }
});

function addressesIn(value: object): Address[] {
  return Object.values(value).flatMap((entry: unknown) =>
    typeof entry === 'string' ? [entry as Address] : addressesIn(entry as object),
  );
}
