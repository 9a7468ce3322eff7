import { encodeFunctionData, erc20Abi, maxUint256, parseAbi, type Address, type Hex } from 'viem';

import { squareRoot } from '../../../packages/agent-kit/src/protocols/liquidity/full-range.js';
import type { DevnetWithProtocols } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { DEPLOYER, sendAsDeployer } from '../../../tools/devnet/protocols/deployer.js';

const abi = parseAbi([
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address pool)',
  'struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }',
  'function mint(MintParams params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
]);

/** Opens a Uniswap v3 pool of 0.3 % with 500 USDC and 500 of a token with 18 decimals, of the devnet's last account. */
export async function createPool(chain: DevnetWithProtocols, token: Address): Promise<void> {
  const { positionManager } = chain.contracts.uniswapV3;
  const from = chain.accounts.at(-1)?.address;
  if (!from) throw new Error('the devnet has no accounts');
  const sides = [
    { address: token, amount: 500n * 10n ** 18n },
    { address: chain.asset, amount: 500n * 10n ** 6n },
  ] as const;
  const isFirst = BigInt(token) < BigInt(chain.asset);
  const [first, second] = isFirst ? [sides[0], sides[1]] : [sides[1], sides[0]];
  // A price of one whole token for one: the decimals differ by 12, and the pool wants the square root.
  const sqrtPriceX96 = isFirst ? 2n ** 96n / 10n ** 6n : 2n ** 96n * 10n ** 6n;
  const send = async (to: Address, data: Hex) => {
    const hash = await sendTransaction(chain, { from, to, data });
    const receipt = (await callRpc(chain.rpcUrl, 'eth_getTransactionReceipt', [hash])) as { status: Hex };
    if (receipt.status !== '0x1') throw new Error(`no pool was made: transaction ${hash} reverted`);
  };
  const open = [first.address, second.address, 3000, sqrtPriceX96] as const;
  await send(
    positionManager,
    encodeFunctionData({ abi, functionName: 'createAndInitializePoolIfNecessary', args: open }),
  );
  for (const { address } of sides) {
    const approval = [positionManager, maxUint256] as const;
    await send(address, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: approval }));
  }
  const position = {
    token0: first.address,
    token1: second.address,
    fee: 3000,
    tickLower: -887_220,
    tickUpper: 887_220,
    amount0Desired: first.amount,
    amount1Desired: second.amount,
    amount0Min: 0n,
    amount1Min: 0n,
    recipient: from,
    deadline: 2n ** 63n,
  };
  await send(positionManager, encodeFunctionData({ abi, functionName: 'mint', args: [position] }));
}

/**
 * Creates and fills a pool with the devnet's FEE token. Pools reject a token that keeps a part, so it has the code of a token without a
 * fee while the pool is filled.
 */
export async function createFeeTokenPool(chain: DevnetWithProtocols): Promise<void> {
  const { FEE, EVIL } = chain.contracts.tokens;
  const [own, plain] = await Promise.all(
    [FEE, EVIL].map((token) => callRpc(chain.rpcUrl, 'eth_getCode', [token, 'latest'])),
  );
  await callRpc(chain.rpcUrl, 'anvil_setCode', [FEE, plain]);
  await createPool(chain, FEE);
  await callRpc(chain.rpcUrl, 'anvil_setCode', [FEE, own]);
}

const TICK_SPACINGS = { 500: 10, 3000: 60, 10000: 200 } as const;

/** A pool to open; the two amounts are base units, and their ratio is its price. */
interface PoolToOpen {
  fee: keyof typeof TICK_SPACINGS;
  sides: readonly [PoolSide, PoolSide];
  /** The smallest range around the price instead of the full one. */
  isNarrow?: boolean;
}

interface PoolSide {
  address: Address;
  amount: bigint;
}

/** Opens Uniswap v3 pools with tokens of the devnet's deployer, which has approved the position manager. */
export async function openPools(chain: DevnetWithProtocols, pools: readonly PoolToOpen[]): Promise<void> {
  const { positionManager: to } = chain.contracts.uniswapV3;
  const calls = pools.flatMap(({ fee, sides, isNarrow = false }) => {
    const [first, second] = [...sides].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1)) as [
      PoolSide,
      PoolSide,
    ];
    const spacing = TICK_SPACINGS[fee];
    const tick = Math.log(Number(second.amount) / Number(first.amount)) / Math.log(1.0001);
    const lastTick = Math.floor(887_272 / spacing) * spacing;
    const tickLower = isNarrow ? Math.floor(tick / spacing) * spacing : -lastTick;
    const position = {
      token0: first.address,
      token1: second.address,
      fee,
      tickLower,
      tickUpper: isNarrow ? tickLower + spacing : lastTick,
      amount0Desired: first.amount,
      amount1Desired: second.amount,
      amount0Min: 0n,
      amount1Min: 0n,
      recipient: DEPLOYER,
      deadline: 2n ** 63n,
    };
    const open = [first.address, second.address, fee, squareRoot((second.amount << 192n) / first.amount)] as const;
    return [
      { to, data: encodeFunctionData({ abi, functionName: 'createAndInitializePoolIfNecessary', args: open }) },
      { to, data: encodeFunctionData({ abi, functionName: 'mint', args: [position] }) },
    ];
  });
  await sendAsDeployer(chain.rpcUrl, calls);
}
