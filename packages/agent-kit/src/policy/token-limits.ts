import { parseTokenAmount } from '@tollgate/protocol';

import type { TokenResolver } from '../tokens/resolve-token.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import { isSameToken, type TokenAmount } from '../types/token.js';
import { quoteUntrusted } from '../types/untrusted-text.js';
import type { SpendingPolicy } from './policy.js';

/** A limit with its token. */
export type TokenLimit = TokenAmount;

export interface TokenLimits {
  perOperation: readonly TokenLimit[];
  perDay: readonly TokenLimit[];
  /** Whether the policy limits any amounts, on this chain or on another. */
  isLimited: boolean;
}

type Amounts = Readonly<Record<string, string>>;

/** The chain whose limits are read. */
interface LimitedChain {
  chainId: number;
  /** Whether a token without a chain id in the policy is one of this chain. */
  isOwn: boolean;
  /** Whether the account is used on no other chain. */
  isOnly: boolean;
}

/** @throws AgentKitError `INVALID_CONFIGURATION` with every limit that is invalid on this chain; `NETWORK_ERROR`. */
export async function readTokenLimits(
  { maxPerOperation = {}, maxPerDay = {} }: SpendingPolicy,
  tokens: TokenResolver,
  chain: LimitedChain,
): Promise<TokenLimits> {
  const problems: string[] = [];
  const pick = (field: string, amounts: Amounts): [string, string][] => pickChain(field, amounts, chain, problems);
  const [operation, day] = ['policy.maxPerOperation', 'policy.maxPerDay'];
  const limits = {
    perOperation: await readAmounts(operation, pick(operation, maxPerOperation), tokens, problems),
    perDay: await readAmounts(day, pick(day, maxPerDay), tokens, problems),
    isLimited: Object.keys({ ...maxPerOperation, ...maxPerDay }).length > 0,
  };
  assertNoProblems('The policy is invalid', problems);
  return limits;
}

/** The amounts of one chain by token: `8453:USDC` is the one of chain 8453. */
function pickChain(
  field: string,
  amounts: Amounts,
  { chainId, isOwn, isOnly }: LimitedChain,
  problems: string[],
): [string, string][] {
  return Object.entries(amounts).flatMap(([reference, amount]): [string, string][] => {
    const [, id, token = reference] = /^(\d+):(.+)$/.exec(reference) ?? [];
    if (id === undefined ? isOwn : id === String(chainId)) return [[token, amount]];
    if (isOnly)
      problems.push(`${field}: ${quoteUntrusted(reference)} is of another chain than ${chainId}, the only one`);
    return [];
  });
}

/**
 * Resolves decimal amounts by token, as in the settings of a wallet.
 * @param name the name of the setting in error texts.
 * @throws AgentKitError `INVALID_CONFIGURATION` with every amount that is invalid on this chain; `NETWORK_ERROR`.
 */
export async function readTokenAmounts(name: string, amounts: Amounts, tokens: TokenResolver): Promise<TokenLimit[]> {
  const problems: string[] = [];
  const limits = await readAmounts(name, Object.entries(amounts), tokens, problems);
  assertNoProblems(`The setting ${name} is invalid`, problems);
  return limits;
}

async function readAmounts(
  field: string,
  amounts: readonly [reference: string, amount: string][],
  tokens: TokenResolver,
  problems: string[],
): Promise<TokenLimit[]> {
  const limits: TokenLimit[] = [];
  for (const [reference, amount] of amounts) {
    const name = `${field}: ${quoteUntrusted(reference)}`;
    try {
      const token = await tokens.resolve(reference);
      const isDouble = limits.some((limit) => isSameToken(limit.token, token));
      if (isDouble) problems.push(`${name} already has a limit, under another name`);
      limits.push({ token, amountBaseUnits: parseTokenAmount(amount, token.decimals) });
    } catch (error) {
      if (!isAboutTheLimit(error)) throw error;
      problems.push(`${name}: ${error.message}`);
    }
  }
  return limits;
}

function assertNoProblems(what: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new AgentKitError('INVALID_CONFIGURATION', `${what}: ${problems.join('; ')}`, { details: { problems } });
}

/** An unknown token or an invalid amount; any other error comes from the network. */
function isAboutTheLimit(error: unknown): error is Error {
  const codes = ['UNKNOWN_TOKEN', 'AMBIGUOUS_TOKEN', 'invalid_amount'];
  return error instanceof Error && codes.includes((error as { code?: string }).code ?? '');
}
