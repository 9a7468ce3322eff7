import { parseTokenAmount } from '@tollgate/protocol';
import { isAddressEqual, type Address } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import { showAmount } from '../plan/create-preview.js';
import type { Plan } from '../plan/plan.js';
import type { TokenResolver } from '../tokens/resolve-token.js';
import type { Token, TokenAmount } from '../tokens/token.js';
import type { SpendingPolicy } from './policy.js';

type CheckedPlan = Pick<Plan, 'operation' | 'steps' | 'spends' | 'recipients' | 'slippageBps' | 'payment'>;

/** A limit with the token that it is for. */
export interface TokenLimit {
  token: Token;
  amountBaseUnits: bigint;
}

export interface TokenLimits {
  perOperation: readonly TokenLimit[];
  perDay: readonly TokenLimit[];
}

/** @throws AgentKitError `INVALID_CONFIGURATION` for an amount that is none; what the resolver throws for a token. */
export async function readTokenLimits(policy: SpendingPolicy, tokens: TokenResolver): Promise<TokenLimits> {
  const read = (limits: Readonly<Record<string, string>> = {}) =>
    Promise.all(
      Object.entries(limits).map(async ([reference, amount]) => {
        const token = await tokens.resolve(reference);
        return { token, amountBaseUnits: parseTokenAmount(amount, token.decimals) };
      }),
    );
  return { perOperation: await read(policy.maxPerOperation), perDay: await read(policy.maxPerDay) };
}

/**
 * Holds a plan against the policy; the most per day is counted elsewhere, when the plan is carried out.
 * @throws AgentKitError `POLICY_VIOLATION` with everything that the policy forbids.
 */
export function assertPolicy(plan: CheckedPlan, policy: SpendingPolicy, limits: TokenLimits): void {
  const problems = [
    ...findForbiddenOperation(plan, policy),
    ...findForbiddenAddresses('recipient', plan.recipients, policy.recipients),
    ...findForbiddenAddresses('contract', listContracts(plan), policy.contracts),
    ...findExcessiveSlippage(plan, policy),
    ...plan.spends.flatMap((amount) => findExcessiveAmount(amount, limits)),
  ];
  if (problems.length === 0) return;
  throw new AgentKitError('POLICY_VIOLATION', `The policy of this wallet forbids it: ${problems.join('; ')}.`, {
    details: { problems },
  });
}

function findForbiddenOperation({ operation }: CheckedPlan, { operations }: SpendingPolicy): string[] {
  return operations && !operations.includes(operation) ? [`the operation ${operation} is not allowed`] : [];
}

function findForbiddenAddresses(
  what: string,
  addresses: readonly Address[],
  allowed: readonly Address[] | undefined,
): string[] {
  if (!allowed) return [];
  const forbidden = addresses.filter((address) => !allowed.some((known) => isAddressEqual(known, address)));
  return [...new Set(forbidden)].map((address) => `the ${what} ${address} is not allowed`);
}

function listContracts({ steps, payment }: CheckedPlan): Address[] {
  return payment ? [payment.amount.token.address] : steps.filter(({ data }) => data !== '0x').map(({ to }) => to);
}

function findExcessiveSlippage({ slippageBps }: CheckedPlan, { maxSlippageBps }: SpendingPolicy): string[] {
  const isTooHigh = maxSlippageBps !== undefined && slippageBps !== undefined && slippageBps > maxSlippageBps;
  return isTooHigh ? [`a slippage of ${slippageBps} bps is above the ceiling of ${maxSlippageBps}`] : [];
}

/** A policy that limits amounts at all refuses the tokens it does not name: they would be the way around it. */
function findExcessiveAmount(amount: TokenAmount, { perOperation, perDay }: TokenLimits): string[] {
  if (perOperation.length + perDay.length === 0 || amount.amountBaseUnits === 0n) return [];
  const limit = perOperation.find(({ token }) => token.address === amount.token.address);
  const isNamed = limit ?? perDay.find(({ token }) => token.address === amount.token.address);
  if (!isNamed) return [`no limit is set for ${showAmount(amount)}`];
  return limit && amount.amountBaseUnits > limit.amountBaseUnits
    ? [`${showAmount(amount)} is more than the ${showAmount(limit)} of one operation`]
    : [];
}
