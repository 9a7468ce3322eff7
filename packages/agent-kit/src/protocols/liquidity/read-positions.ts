import type { Address, PublicClient } from 'viem';

import { AgentKitError } from '../../agent-kit-error.js';
import { isRevert } from '../is-revert.js';
import type { LiquidityPosition, ProtocolEnvironment } from '../protocol.js';
import { positionManagerAbi } from '../uniswap-v3-abi.js';
import {
  readPosition,
  tryRemoval,
  type Position,
  type PositionWorth,
  type UniswapV3LiquidityOptions,
} from './position-manager.js';

/** Anyone can send positions to any account, so only this many of the newest are read. */
const MAX_POSITIONS = 50;

/** The account's positions, newest first; empty ones are left out. */
export async function readPositions(
  account: Address,
  { positionManager }: UniswapV3LiquidityOptions,
  { client, tokens }: ProtocolEnvironment,
): Promise<LiquidityPosition[]> {
  const contract = { address: positionManager, abi: positionManagerAbi } as const;
  const count = await client.readContract({ ...contract, functionName: 'balanceOf', args: [account] });
  const oldest = count > MAX_POSITIONS ? count - BigInt(MAX_POSITIONS) : 0n;
  const indexes = Array.from({ length: Number(count - oldest) }, (_, index) => count - 1n - BigInt(index));
  const positions = await Promise.all(
    indexes.map(async (index) => {
      const args = [account, index] as const;
      const positionId = await client.readContract({ ...contract, functionName: 'tokenOfOwnerByIndex', args });
      const position = await readPosition(client, positionManager, positionId);
      const worth = await readWorth(client, positionManager, position, account);
      if (isEmpty(worth)) return null;
      return describePosition(position, worth, tokens);
    }),
  );
  return positions.filter((position) => position !== null);
}

async function readWorth(
  client: PublicClient,
  positionManager: Address,
  position: Position,
  owner: Address,
): Promise<PositionWorth> {
  const { liquidity } = position;
  const nothing = { amount0: 0n, amount1: 0n };
  if (liquidity === 0n && position.owed.amount0 === 0n && position.owed.amount1 === 0n) {
    return { principal: nothing, fees: nothing };
  }
  return tryRemoval(client, positionManager, { position, owner, liquidity }).catch((error: unknown) => {
    // A token that refuses to be paid out hides the value of its own position only.
    if (!isRevert(error)) throw error;
    return { principal: nothing, fees: position.owed };
  });
}

function isEmpty({ principal, fees }: PositionWorth): boolean {
  return [principal, fees].every(({ amount0, amount1 }) => amount0 === 0n && amount1 === 0n);
}

async function describePosition(
  { positionId, token0, token1, fee }: Position,
  { principal, fees }: PositionWorth,
  tokens: ProtocolEnvironment['tokens'],
): Promise<LiquidityPosition | null> {
  try {
    const [tokenA, tokenB] = await Promise.all([tokens.resolve(token0), tokens.resolve(token1)]);
    return {
      positionId: positionId.toString(),
      tokenA,
      tokenB,
      fee,
      amountA: principal.amount0,
      amountB: principal.amount1,
      owedA: fees.amount0,
      owedB: fees.amount1,
    };
  } catch (error) {
    // A position of a token without decimals was sent here by a stranger; it must not hide the others.
    if (error instanceof AgentKitError && error.code === 'UNKNOWN_TOKEN') return null;
    throw error;
  }
}
