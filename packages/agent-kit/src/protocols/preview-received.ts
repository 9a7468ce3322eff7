import { BaseError, encodeFunctionData, erc20Abi, pad, size, type Address, type Hex, type PublicClient } from 'viem';

import { explainRevert } from '../chain/explain-failure.js';
import { createSteps } from '../tokens/create-steps.js';
import type { ProtocolAction } from '../types/plan.js';
import type { Token } from '../types/token.js';

/** Code for the simulation only: returns the balance of the address it is called with, for which nodes have no call. */
const NATIVE_BALANCE_READER = {
  address: '0x000000000000000000000000000000000000ba1a',
  code: '0x6000353160005260206000f3',
} as const;

/**
 * How much of a token an account would gain by an action, in base units, independent of what the action declares. Null
 * if the node cannot simulate several calls, or the token reports no balance.
 * @throws AgentKitError when a call of the action would fail.
 */
export async function previewReceived(
  client: PublicClient,
  account: Address,
  action: ProtocolAction,
  token: Token,
): Promise<bigint | null> {
  const readBalance = token.isNative
    ? { to: NATIVE_BALANCE_READER.address, data: pad(account) }
    : { to: token.address, data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account] }) };
  const steps = createSteps(action);
  const calls = [readBalance, ...steps.map(({ to, data, value }) => ({ to, data, value })), readBalance];
  const [block] = await client
    .simulateBlocks({
      blocks: [{ calls: calls.map((call) => ({ account, ...call })), stateOverrides: [NATIVE_BALANCE_READER] }],
    })
    .catch((error: unknown) => {
      if (error instanceof BaseError) return [];
      throw error;
    });
  if (!block) return null;
  const [before, ...results] = block.calls;
  const after = results.pop();
  results.forEach(({ status, data }, index) => {
    if (status === 'failure') throw explainRevert(data, steps[index]?.failures);
  });
  if (!isAmount(before) || !isAmount(after)) return null;
  return BigInt(after.data) - BigInt(before.data);
}

function isAmount(call: { status: string; data: Hex } | undefined): call is { status: 'success'; data: Hex } {
  return call?.status === 'success' && size(call.data) === 32;
}
