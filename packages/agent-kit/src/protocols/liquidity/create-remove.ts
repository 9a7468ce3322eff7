import { encodeFunctionData, getContract, isAddressEqual, zeroAddress, type Address, type Hex } from 'viem';

import { isRevert } from '../../chain/explain-failure.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { Token } from '../../types/token.js';
import { subtractSlippage } from '../amount-math.js';
import type { LiquidityProtocol, ProtocolEnvironment } from '../protocol.js';
import { positionManagerAbi } from '../uniswap-v3-pools.js';
import type { PairAmounts } from './full-range.js';
import {
  encodeCollect,
  encodeDecrease,
  isNothing,
  POSITION_FAILURES,
  readPosition,
  tryRemoval,
  type PositionManager,
  type UniswapV3LiquidityOptions,
} from './position-manager.js';

type RemoveRequest = Parameters<LiquidityProtocol['createRemove']>[0];
type RemoveAction = Awaited<ReturnType<LiquidityProtocol['createRemove']>>;

/** Removes a part of a position, with all its fees. The wrapped native token arrives as the native one. */
export async function createRemove(
  request: RemoveRequest,
  { positionManager, wrappedNative }: UniswapV3LiquidityOptions,
  { client, tokens }: ProtocolEnvironment,
): Promise<RemoveAction> {
  const { positionId, percent, slippageBps, recipient, deadlineSeconds } = request;
  const manager = getContract({ address: positionManager, abi: positionManagerAbi, client });
  await assertOwner(manager, request);
  const position = await readPosition(manager, positionId);
  const liquidity = (position.liquidity * BigInt(percent)) / 100n;
  const { principal } = await tryRemoval(manager, { position, owner: recipient, liquidity });
  const isTooSmall = liquidity === 0n ? position.liquidity > 0n : isNothing(principal);
  if (isTooSmall) throw refuseTooSmall(request);

  const minimums: PairAmounts = {
    amount0: subtractSlippage(principal.amount0, slippageBps),
    amount1: subtractSlippage(principal.amount1, slippageBps),
  };
  const [token0, token1] = [position.token0, position.token1].map((address) => isAddressEqual(address, wrappedNative));
  const calls: Hex[] = [];
  if (liquidity > 0n) calls.push(encodeDecrease({ positionId, liquidity, minimums, deadline: deadlineSeconds }));
  if (token0 || token1) {
    const [unwrapped, swept] = token0 ? [minimums.amount0, minimums.amount1] : [minimums.amount1, minimums.amount0];
    const other = token0 ? position.token1 : position.token0;
    calls.push(
      // Collected into the contract, which unwraps the native token; both tokens leave it in the same transaction.
      encodeCollect(positionId, zeroAddress),
      encodeFunctionData({ abi: positionManagerAbi, functionName: 'unwrapWETH9', args: [unwrapped, recipient] }),
      encodeFunctionData({ abi: positionManagerAbi, functionName: 'sweepToken', args: [other, swept, recipient] }),
    );
  } else {
    calls.push(encodeCollect(positionId, recipient));
  }
  if (percent === 100)
    calls.push(encodeFunctionData({ abi: positionManagerAbi, functionName: 'burn', args: [positionId] }));

  const resolve = (address: Address): Promise<Token> | Token =>
    isAddressEqual(address, wrappedNative) ? tokens.native : tokens.resolve(address);
  return {
    approvals: [],
    calls: [
      {
        label: `Remove ${percent} % of position ${positionId} from Uniswap v3, with its fees`,
        to: positionManager,
        data: encodeFunctionData({ abi: positionManagerAbi, functionName: 'multicall', args: [calls] }),
        value: 0n,
        failures: POSITION_FAILURES,
      },
    ],
    minimums: [
      { token: await resolve(position.token0), amountBaseUnits: minimums.amount0 },
      { token: await resolve(position.token1), amountBaseUnits: minimums.amount1 },
    ],
  };
}

async function assertOwner({ read }: PositionManager, { positionId, recipient }: RemoveRequest): Promise<void> {
  const details = { positionId: positionId.toString() };
  const suggestion = 'Use one of the positions that getLiquidityPositions lists.';
  const owner = await read.ownerOf([positionId]).catch((error: unknown) => {
    if (!isRevert(error)) throw error;
    throw new AgentKitError('INVALID_INPUT', `There is no position ${positionId}.`, { details, suggestion });
  });
  if (isAddressEqual(owner, recipient)) return;
  throw new AgentKitError('INVALID_INPUT', `Position ${positionId} belongs to another account.`, {
    details,
    suggestion,
  });
}

/** A removal of zero value cannot be protected by a minimum. */
function refuseTooSmall({ positionId, percent }: RemoveRequest): AgentKitError {
  return new AgentKitError(
    'INVALID_INPUT',
    `${percent} % of position ${positionId} is less than the smallest unit of both tokens.`,
    { details: { positionId: positionId.toString(), percent }, suggestion: 'Remove a larger part.' },
  );
}
