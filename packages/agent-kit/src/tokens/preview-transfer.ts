import { formatTokenAmount } from '@tollgate/protocol';
import { BaseError, encodeFunctionData, erc20Abi, pad, size, type Address, type Hex, type PublicClient } from 'viem';

import { explainRevert } from '../chain/explain-failure.js';
import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { ProtocolAction } from '../types/plan.js';
import type { Token, TokenAmount } from '../types/token.js';
import { createSteps } from './create-steps.js';
import { showSymbol } from './show-token.js';

/**
 * How much of an ERC-20 transfer would arrive, in base units: some tokens keep a part. Null if the node cannot simulate
 * several calls, or the transfer is refused, whose reason the plan's own simulation reports.
 */
export async function previewTransfer(
  { client, account }: AccountReader,
  { token, amountBaseUnits }: TokenAmount,
  to: Address,
): Promise<bigint | null> {
  const readBalance = {
    to: token.address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [to],
  } as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountBaseUnits] });
  try {
    const [block] = await client.simulateBlocks({
      blocks: [{ calls: [readBalance, { account, to: token.address, data }, readBalance] }],
    });
    const [before, transfer, after] = block?.calls ?? [];
    if (transfer?.status !== 'success' || !isAmount(before) || !isAmount(after)) return null;
    return BigInt(after.data) - BigInt(before.data);
  } catch (error) {
    if (error instanceof BaseError) return null;
    throw error;
  }
}

/**
 * Tries a transfer between an account and a pool, sending nothing: a token that keeps a part of each transfer breaks
 * the assumptions of pools and minimum amounts. Listed tokens are known not to; if the transfer cannot be tried, the
 * plan's simulation decides.
 * @throws AgentKitError `INVALID_INPUT` when less arrives than was sent.
 */
export async function assertArrivesWhole(
  client: PublicClient,
  amount: TokenAmount,
  { from, to }: { from: Address; to: Address },
): Promise<void> {
  const { token, amountBaseUnits } = amount;
  if (token.isListed || token.isNative) return;
  const arriving = await previewTransfer({ client, account: from }, amount, to);
  if (arriving === null || arriving >= amountBaseUnits) return;
  const sent = formatTokenAmount(amountBaseUnits, token.decimals);
  const received = formatTokenAmount(arriving < 0n ? 0n : arriving, token.decimals);
  throw new AgentKitError(
    'INVALID_INPUT',
    `The token ${showSymbol(token)} (${token.address}) keeps a part of each transfer: of ${sent} only ${received} arrive. Such tokens can be neither swapped nor pooled.`,
    { details: { token: token.address, sent, received }, suggestion: 'Use another token.' },
  );
}

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

/** A token may return nothing, or any number of bytes: only one word is an amount. */
function isAmount(call: { status: string; data: Hex } | undefined): call is { status: 'success'; data: Hex } {
  return call?.status === 'success' && size(call.data) === 32;
}
