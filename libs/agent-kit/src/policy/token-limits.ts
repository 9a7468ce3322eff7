import { parseTokenAmount } from '@tollgate/protocol';

import { AgentKitError } from '../agent-kit-error.js';
import { isSameToken } from '../tokens/is-same-token.js';
import type { TokenResolver } from '../tokens/resolve-token.js';
import type { Token } from '../tokens/token.js';
import { quoteUntrusted } from '../tokens/untrusted-text.js';
import type { SpendingPolicy } from './policy.js';

/** A limit with the token that it is for. */
export interface TokenLimit {
  token: Token;
  amountBaseUnits: bigint;
}

export interface TokenLimits {
  perOperation: readonly TokenLimit[];
  perDay: readonly TokenLimit[];
}

/** @throws AgentKitError `INVALID_CONFIGURATION` with every limit that means nothing on this chain; `NETWORK_ERROR`. */
export async function readTokenLimits(policy: SpendingPolicy, tokens: TokenResolver): Promise<TokenLimits> {
  const problems: string[] = [];
  const read = async (field: 'maxPerOperation' | 'maxPerDay') => {
    const limits: TokenLimit[] = [];
    for (const [reference, amount] of Object.entries(policy[field] ?? {})) {
      const name = `policy.${field}: ${quoteUntrusted(reference)}`;
      try {
        const token = await tokens.resolve(reference);
        const isDouble = limits.some((limit) => isSameToken(limit.token, token));
        if (isDouble) problems.push(`${name} has a limit already, under another name`);
        limits.push({ token, amountBaseUnits: parseTokenAmount(amount, token.decimals) });
      } catch (error) {
        if (!isAboutTheLimit(error)) throw error;
        problems.push(`${name}: ${error.message}`);
      }
    }
    return limits;
  };
  const limits = { perOperation: await read('maxPerOperation'), perDay: await read('maxPerDay') };
  if (problems.length === 0) return limits;
  throw new AgentKitError('INVALID_CONFIGURATION', `The policy cannot be kept: ${problems.join('; ')}`, {
    details: { problems },
  });
}

/** No such token, or no amount of it; anything else is the network's doing. */
function isAboutTheLimit(error: unknown): error is Error {
  const codes = ['UNKNOWN_TOKEN', 'AMBIGUOUS_TOKEN', 'invalid_amount'];
  return error instanceof Error && codes.includes((error as { code?: string }).code ?? '');
}
