import { signedMethodOf } from '@tollgate/protocol';
import { getAddress, isAddressEqual, type Address } from 'viem';

import { readAllowanceCall } from '../tokens/read-allowance-call.js';
import { showAmount } from '../tokens/show-token.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { PaymentTerms, Plan } from '../types/plan.js';
import { isSameToken, type TokenAmount } from '../types/token.js';
import type { SpendingPolicy } from './policy.js';
import type { TokenLimits } from './token-limits.js';

type CheckedPlan = Pick<Plan, 'operation' | 'steps' | 'spends' | 'receives' | 'recipients' | 'slippageBps' | 'payment'>;

/**
 * Checks a plan against the policy, except for the daily limit, which is counted when the plan is executed.
 * @param spending the most that the plan takes out of the account.
 * @throws AgentKitError `POLICY_VIOLATION` with everything that the policy forbids.
 */
export function assertPolicy(
  plan: CheckedPlan,
  spending: readonly TokenAmount[],
  policy: SpendingPolicy,
  limits: TokenLimits,
): void {
  const problems = [
    ...findForbiddenOperation(plan, policy),
    ...findForbiddenAddresses('recipient', listRecipients(plan), policy.recipients),
    ...findForbiddenAddresses('contract', listContracts(plan), policy.contracts),
    ...findExcessiveSlippage(plan, policy),
    ...spending.flatMap((amount) => findExcessiveAmount(amount, limits)),
    ...findUncounted(plan, spending, policy, limits),
    ...findUnnamedTokens(plan, spending, policy, limits),
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
  return [...new Set(forbidden.map((address) => getAddress(address)))].map(
    (address) => `the ${what} ${address} is not allowed`,
  );
}

/** A call without data is a transfer of the native token, whatever the plan declares. */
function listRecipients({ recipients, steps }: CheckedPlan): Address[] {
  return [...recipients, ...steps.filter(({ data }) => data === '0x').map(({ to }) => to)];
}

/**
 * The spender of an approval is treated like a called contract, because it takes the tokens by a call, and so is the
 * contract that takes a payment.
 */
function listContracts({ steps, payment }: CheckedPlan): Address[] {
  const called = steps.filter(({ data }) => data !== '0x').map(({ to }) => to);
  const paid = payment ? [payment.amount.token.address, ...listMovers(payment.way)] : [];
  return [...called, ...paid, ...steps.flatMap(listSpenders)];
}

/** The contract that takes a payment by an allowance. */
function listMovers(way: PaymentTerms['way']): Address[] {
  const spender = way === 'transfer' ? null : signedMethodOf({ kind: way }).spender;
  return spender === null ? [] : [spender];
}

/** Read from the call too: an approval that is to stay is not declared, since what is left of those is revoked. */
function listSpenders(step: CheckedPlan['steps'][number]): Address[] {
  const { approval } = step;
  const call = readAllowanceCall(step);
  return [...(approval ? [approval.spender] : []), ...(call && call.amount > 0n ? [call.spender] : [])];
}

function findExcessiveSlippage({ slippageBps }: CheckedPlan, { maxSlippageBps }: SpendingPolicy): string[] {
  const isTooHigh = maxSlippageBps !== undefined && slippageBps !== undefined && slippageBps > maxSlippageBps;
  return isTooHigh ? [`a price tolerance of ${slippageBps} bps is above the ceiling of ${maxSlippageBps}`] : [];
}

/** A policy that limits any amounts refuses the tokens it does not list; otherwise they would bypass the limits. */
function findExcessiveAmount(amount: TokenAmount, { perOperation, perDay, isLimited }: TokenLimits): string[] {
  if (!isLimited || amount.amountBaseUnits === 0n) return [];
  const limit = perOperation.find(({ token }) => isSameToken(token, amount.token));
  const isNamed = limit ?? perDay.find(({ token }) => isSameToken(token, amount.token));
  if (!isNamed) return [`no limit is set for ${showAmount(amount)}`];
  return limit && amount.amountBaseUnits > limit.amountBaseUnits
    ? [`${showAmount(amount)} is more than the ${showAmount(limit)} of one operation`]
    : [];
}

/**
 * A plan that gives something away but counts no amount transfers an ERC-721 token, which no limit can cover. It is
 * refused like other tokens without a limit, unless the policy lists the allowed recipients or operations.
 */
function findUncounted(
  { recipients }: CheckedPlan,
  spending: readonly TokenAmount[],
  policy: SpendingPolicy,
  limits: TokenLimits,
): string[] {
  const isLimited = limits.isLimited && !policy.recipients && !policy.operations;
  const isCounted = recipients.length === 0 || spending.some(({ amountBaseUnits }) => amountBaseUnits > 0n);
  return isLimited && !isCounted
    ? ['no limit can be set for ERC-721 tokens: list the allowed recipients or operations']
    : [];
}

/**
 * Anyone can create a token and a pool for it, and then take out what others pay into that pool. So under a policy that
 * says who receives tokens, or how much, other tokens than the listed ones and those that the policy names are neither
 * bought nor put into a pool. A plan that takes nothing out of the account cannot lose anything in this way.
 */
function findUnnamedTokens(
  { spends, receives }: CheckedPlan,
  spending: readonly TokenAmount[],
  { recipients, contracts = [] }: SpendingPolicy,
  { perOperation, perDay, isLimited }: TokenLimits,
): string[] {
  const limited = [...perOperation, ...perDay];
  if (!recipients && !isLimited) return [];
  if (spending.every(({ amountBaseUnits }) => amountBaseUnits === 0n)) return [];
  const named = [...limited.map(({ token }) => token), ...contracts.map((address) => ({ address }))];
  // Several tokens are spent at once where they are put into a pool.
  const traded = [...receives, ...(spends.length > 1 ? spends : [])].map(({ token }) => token);
  const unnamed = traded.filter((token) => !token.isListed && !named.some((other) => isSameToken(other, token)));
  return [...new Set(unnamed.map(({ address }) => getAddress(address)))].map(
    (address) => `the token ${address} is neither in the token list nor named by the policy`,
  );
}
