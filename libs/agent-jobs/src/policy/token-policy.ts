import type { JsonValue, PlanPolicy } from '@tollgate/journal';
import { isAddress, type Hex } from '@tollgate/protocol';
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem';

/** What a spender may take of a token. */
export interface AllowanceScope {
  token: Hex;
  spender: Hex;
}

/** An allowance, in base units. */
export interface Allowance extends AllowanceScope {
  owner: Hex;
  amount: bigint;
}

/** The name under which an allowance is locked: one job at a time may change or use it. */
export function nameAllowance({ token, spender }: AllowanceScope): string {
  return `${token}:${spender}`.toLowerCase();
}

/** The condition of a step that sets this allowance, as the journal stores it. */
export function writeAllowanceCondition({ token, owner, spender, amount }: Allowance): JsonValue {
  return { kind: 'allowance', token, owner, spender, amount: amount.toString() };
}

/** @throws TypeError for a condition of another kind */
export function readAllowanceCondition(condition: JsonValue): Allowance {
  const { kind, token, owner, spender, amount } = condition as Record<string, unknown>;
  const isKnown = kind === 'allowance' && isAddress(token) && isAddress(owner) && isAddress(spender);
  if (!isKnown || typeof amount !== 'string') throw new TypeError('The condition of the step is no allowance.');
  return { token, owner, spender, amount: BigInt(amount) };
}

/** What holds for the plans of wallets beside their signatures: allowances, agreed bounds and daily limits. */
export const TOKEN_POLICY: PlanPolicy = {
  /** The allowance is at least the amount, or zero where the amount is zero. */
  async holds(condition, call) {
    const { token, owner, spender, amount } = readAllowanceCondition(condition);
    const question = { abi: erc20Abi, functionName: 'allowance' } as const;
    const result = await call(token, encodeFunctionData({ ...question, args: [owner, spender] }));
    try {
      const allowance = decodeFunctionResult({ ...question, data: result });
      return amount === 0n ? allowance === 0n : allowance >= amount;
    } catch {
      return null;
    }
  },

  explainRefusal(refusal) {
    switch (refusal.reason) {
      case 'floors_changed':
        return {
          code: 'FLOORS_CHANGED',
          message: 'Prices moved past the approved bounds after the step had taken its nonce.',
          suggestion: 'Submit the job again and have its new bounds approved.',
        };
      case 'locked':
        return {
          code: 'APPROVAL_HELD',
          message: 'Another job holds an allowance that this job now needs.',
          suggestion: 'Submit the job again once the other job has ended.',
        };
      case 'over_limit':
        return {
          code: 'DAILY_LIMIT',
          message: `The job would exceed the wallet's daily spending limit (${refusal.left} base units of ${refusal.asset} are left).`,
          suggestion: "Wait for the next day (UTC), or have the wallet's limit raised.",
        };
    }
  },

  explainLock(holder) {
    return {
      code: 'allowance',
      message: `Job ${holder ?? 'of the same wallet'} uses an allowance that this job needs too.`,
      suggestion: 'It goes on once that job has ended. If that one waits, see what for.',
    };
  },
};
