import { readFileSync } from 'node:fs';

import { parseTokenAmount } from '@tollgate/protocol';
import {
  createPublicClient,
  encodeDeployData,
  erc20Abi,
  http,
  parseAbi,
  zeroAddress,
  type Address,
  type Hex,
} from 'viem';

import { AgentKit } from '../../packages/agent-kit/src/agent-kit.js';
import { uniswapV3Swap } from '../../packages/agent-kit/src/protocols/swap/uniswap-v3.js';
import { startChain, type DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';

const FOLDER = 'test/interop/node_modules/@uniswap/swap-router-contracts/artifacts/contracts/SwapRouter02.sol';
const abi = parseAbi(['constructor(address factoryV2, address factoryV3, address positionManager, address WETH9)']);

let chain: DevnetWithProtocols;
let kit: AgentKit;
let router: Address;

const client = () => createPublicClient({ transport: http(chain.rpcUrl) });

async function deployRouter(): Promise<Address> {
  const { bytecode } = JSON.parse(readFileSync(`${FOLDER}/SwapRouter02.json`, 'utf8')) as { bytecode: Hex };
  const { uniswapV2, uniswapV3, tokens } = chain.contracts;
  const args = [uniswapV2.factory, uniswapV3.factory, uniswapV3.positionManager, tokens.WSEI] as const;
  const data = encodeDeployData({ abi, bytecode, args });
  const hash = await callRpc(chain.rpcUrl, 'eth_sendTransaction', [{ from: chain.accounts[1]!.address, data }]);
  const { contractAddress } = await client().getTransactionReceipt({ hash: hash as Hex });
  return contractAddress ?? zeroAddress;
}

beforeAll(async () => {
  chain = await startChain({ protocols: true });
  router = await deployRouter();
  const wrappedNative = chain.contracts.tokens.WSEI;
  const options = { ...chain.contracts.uniswapV3, router, routerVersion: 2, wrappedNative, chainIds: [1328] } as const;
  kit = new AgentKit(chain.accounts[0]!.privateKey, 'offline', {
    rpcUrl: chain.rpcUrl,
    plugins: [uniswapV3Swap(options)],
  });
});
afterAll(() => chain.stop());

/** `SEI` is the native coin. */
const balanceOf = (owner: Address, symbol: string): Promise<bigint> =>
  symbol === 'SEI'
    ? client().getBalance({ address: owner })
    : client().readContract({
        address: chain.contracts.tokens[symbol as 'USDC'],
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [owner],
      });
const DECIMALS: Record<string, number> = { USDC: 6, WBTC: 8, WSEI: 18, SEI: 18 };

describe('swaps through the published SwapRouter02', () => {
  it.each([
    ['100', 'USDC', 'WSEI'],
    ['0.002', 'WBTC', 'WSEI'],
    ['10', 'SEI', 'USDC'],
    ['10', 'USDC', 'SEI'],
  ])('sell exactly %s %s, buy at least the promised %s, and leave nothing in the router', async (amount, from, to) => {
    const before = await Promise.all([from, to].map((symbol) => balanceOf(kit.address, symbol)));
    const plan = await kit.plan('swap', { amount, fromToken: from, toToken: to });
    const result = await kit.execute(plan);
    expect(result).toMatchObject({ status: 'success', fromToken: from, toToken: to, amount });
    const after = await Promise.all([from, to].map((symbol) => balanceOf(kit.address, symbol)));
    const receipts = await Promise.all(result.transactions.map(({ hash }) => client().getTransactionReceipt({ hash })));
    const gasWei = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
    expect(before[0]! - after[0]! - (from === 'SEI' ? gasWei : 0n)).toBe(parseTokenAmount(amount, DECIMALS[from]!));
    const bought = after[1]! - before[1]! + (to === 'SEI' ? gasWei : 0n);
    expect(bought).toBeGreaterThanOrEqual(plan.receives[0]!.amountBaseUnits);
    for (const symbol of ['SEI', 'WSEI', 'USDC', 'WBTC']) expect(await balanceOf(router, symbol)).toBe(0n);
    expect(await kit.getERC20Allowance('USDC', router)).toBe('0');
  });

  it('do not succeed after their deadline', async () => {
    const plan = await kit.plan('swap', { amount: '1', fromToken: 'USDC', toToken: 'WSEI' });
    const [approval, swap] = plan.steps;
    const from = kit.address;
    await sendTransaction(chain, { from, to: approval!.to, data: approval!.data });
    await callRpc(chain.rpcUrl, 'evm_increaseTime', [86_400]);
    await callRpc(chain.rpcUrl, 'evm_mine');
    const sending = callRpc(chain.rpcUrl, 'eth_call', [{ from, to: swap!.to, data: swap!.data }, 'latest']);
    await expect(sending).rejects.toThrow(/Transaction too old/);
  });
});
