import { getContract, type Address } from 'viem';

import { isRevert } from '../../chain/explain-failure.js';
import { ignoreUnknownToken } from '../../tokens/resolve-token.js';
import type { LiquidityPosition, ProtocolEnvironment, ProtocolPlugin } from '../protocol.js';
import { positionManagerAbi } from '../uniswap-v3-pools.js';
import { createAdd } from './create-add.js';
import { createRemove } from './create-remove.js';
import {
  isNothing,
  NOTHING,
  readPosition,
  tryRemoval,
  type Position,
  type PositionManager,
  type PositionWorth,
  type UniswapV3LiquidityOptions,
} from './position-manager.js';

/** Positions in the pools of a Uniswap v3 deployment. New ones cover the full price range. */
export function uniswapV3Liquidity(options: UniswapV3LiquidityOptions): ProtocolPlugin<'liquidity'> {
  const { positionManager: address, wrappedNative, factory } = options;
  const contract = 'positionManager';
  return {
    kind: 'liquidity',
    name: 'Uniswap v3',
    chainIds: options.chainIds,
    probes: [
      { contract, address, getter: 'factory', returns: 'address', ...(factory && { expected: factory }) },
      { contract, address, getter: 'WETH9', returns: 'address', expected: wrappedNative },
    ],
    create: (environment) => ({
      createAdd: (request) => createAdd(request, options, environment),
      createRemove: (request) => createRemove(request, options, environment),
      readPositions: (account) => readPositions(account, options, environment),
    }),
  };
}

/** Anyone can send positions to any account, so only this many of the newest are read. */
const MAX_POSITIONS = 50;

/** The account's positions, newest first; empty ones are left out. */
async function readPositions(
  account: Address,
  { positionManager }: UniswapV3LiquidityOptions,
  { client, tokens }: ProtocolEnvironment,
): Promise<LiquidityPosition[]> {
  const manager = getContract({ address: positionManager, abi: positionManagerAbi, client });
  const count = await manager.read.balanceOf([account]);
  const oldest = count > MAX_POSITIONS ? count - BigInt(MAX_POSITIONS) : 0n;
  const indexes = Array.from({ length: Number(count - oldest) }, (_, index) => count - 1n - BigInt(index));
  const positions = await Promise.all(
    indexes.map(async (index) => {
      const positionId = await manager.read.tokenOfOwnerByIndex([account, index]);
      const position = await readPosition(manager, positionId);
      const worth = await readWorth(manager, position, account);
      if (isNothing(worth.principal) && isNothing(worth.fees)) return null;
      return describePosition(position, worth, tokens);
    }),
  );
  return positions.filter((position) => position !== null);
}

async function readWorth(manager: PositionManager, position: Position, owner: Address): Promise<PositionWorth> {
  const { liquidity } = position;
  if (liquidity === 0n && isNothing(position.owed)) return { principal: NOTHING, fees: NOTHING };
  return tryRemoval(manager, { position, owner, liquidity }).catch((error: unknown) => {
    // A token that refuses to be paid out hides the value of its own position only.
    if (!isRevert(error)) throw error;
    return { principal: NOTHING, fees: position.owed };
  });
}

async function describePosition(
  { positionId, token0, token1, fee }: Position,
  { principal, fees }: PositionWorth,
  tokens: ProtocolEnvironment['tokens'],
): Promise<LiquidityPosition | null> {
  // A position of a token without decimals was sent here by a stranger; it must not hide the others.
  const pair = await Promise.all([tokens.resolve(token0), tokens.resolve(token1)]).catch(ignoreUnknownToken);
  if (!pair) return null;
  return {
    positionId: positionId.toString(),
    tokenA: pair[0],
    tokenB: pair[1],
    fee,
    amountA: principal.amount0,
    amountB: principal.amount1,
    owedA: fees.amount0,
    owedB: fees.amount1,
  };
}
