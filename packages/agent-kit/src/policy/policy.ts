import { isRecord } from '@tollgate/protocol';
import { isAddress, type Address } from 'viem';

import { freezeCopy } from '../types/plan.js';

/**
 * What a kit may do with its wallet. A rule that is not set limits nothing. With `recipients` or any amounts, tokens that
 * are neither in the kit's token list nor named here (by an amount, or in `contracts`) are not bought or put into a pool.
 * Borrowing, redeeming and perps spend no tokens of the wallet: amounts and `recipients` do not limit them, `operations`
 * does.
 */
export interface SpendingPolicy {
  /** The only write operations allowed. */
  operations?: readonly string[];
  /**
   * The only addresses that may receive tokens or rights: recipients of transfers and payments, spenders of approvals.
   */
  recipients?: readonly Address[];
  /**
   * The only contracts that may be called, or approved to take tokens; the tokens' own contracts are included in the
   * check.
   */
  contracts?: readonly Address[];
  /**
   * The maximum that one operation may spend of a token: decimal amount by token (`0x0`, address or listed symbol), with
   * the chain's id before it where that is not the kit's own chain: `8453:USDC`.
   */
  maxPerOperation?: Readonly<Record<string, string>>;
  /**
   * The maximum that all operations of a day (UTC) may spend of a token. If there are any limits, tokens that are not
   * listed are refused.
   */
  maxPerDay?: Readonly<Record<string, string>>;
  /** Highest slippage tolerance, in basis points. */
  maxSlippageBps?: number;
}

const FIELDS = ['operations', 'recipients', 'contracts', 'maxPerOperation', 'maxPerDay', 'maxSlippageBps'];

/**
 * Parses a policy into a frozen object. Every field must be known, because a misspelled rule would otherwise have no
 * effect.
 * @param operations the names of all write operations.
 * @returns the policy, and its problems.
 */
export function parsePolicy(
  policy: unknown,
  operations: readonly string[],
): { policy: SpendingPolicy; problems: string[] } {
  if (!isRecord(policy)) return { policy: {}, problems: ['policy must be an object'] };
  const copy = freezeCopy(policy);
  const problems = [
    ...Object.keys(copy)
      .filter((field) => !FIELDS.includes(field))
      .map((field) => `policy has no field ${field}`),
    ...findBadNames(copy['operations'], operations),
    ...findBadAddresses('policy.recipients', copy['recipients']),
    ...findBadAddresses('policy.contracts', copy['contracts']),
    ...findBadLimits('policy.maxPerOperation', copy['maxPerOperation']),
    ...findBadLimits('policy.maxPerDay', copy['maxPerDay']),
    ...findBadCeiling(copy['maxSlippageBps']),
  ];
  return { policy: copy, problems };
}

function findBadNames(names: unknown, operations: readonly string[]): string[] {
  if (names === undefined) return [];
  if (!Array.isArray(names)) return ['policy.operations must be a list of operations'];
  const unknown = names.filter((name) => typeof name !== 'string' || !operations.includes(name));
  return unknown.map((name) => `policy.operations: there is no write operation ${JSON.stringify(name)}`);
}

function findBadAddresses(field: string, addresses: unknown): string[] {
  if (addresses === undefined) return [];
  if (!Array.isArray(addresses)) return [`${field} must be a list of addresses`];
  const bad = addresses.filter((address) => typeof address !== 'string' || !isAddress(address, { strict: true }));
  return bad.map((address) => `${field}: ${JSON.stringify(address)} is not an address`);
}

function findBadLimits(field: string, limits: unknown): string[] {
  if (limits === undefined) return [];
  if (!isRecord(limits)) return [`${field} must be an object of decimal amounts by token`];
  // The token's decimals are checked once they were read from the chain.
  const bad = Object.entries(limits).filter(
    ([token, amount]) => token === '' || typeof amount !== 'string' || !/^\d{1,78}(\.\d{1,255})?$/.test(amount),
  );
  return bad.map(([token]) => `${field}: the limit of ${JSON.stringify(token)} is not a decimal amount in text`);
}

function findBadCeiling(bps: unknown): string[] {
  const isFine = bps === undefined || (typeof bps === 'number' && Number.isInteger(bps) && bps >= 0 && bps <= 10_000);
  return isFine ? [] : ['policy.maxSlippageBps must be a whole number from 0 to 10000'];
}
