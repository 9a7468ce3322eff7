import { parseTokenAmount, PaymentError, type AgentJobRequest } from '@tollgate/protocol';
import { isAddress } from 'viem';

import { listFields } from '../request/job-inputs.js';
import type { KnownToken } from './known-token.js';

const NATIVE = '0x0';
const MOST_SHOWN = 50;

/**
 * Problems of a parsed request that depend on the tokens of its wallet's chain: an unknown token, or an amount with
 * more decimals than its token has. A token given by its address is not checked here, since only the chain knows it.
 * @returns one sentence per problem, which names the field and contains no value
 */
export function findTokenProblems(
  { operation, input }: Pick<AgentJobRequest, 'operation' | 'input'>,
  tokens: readonly KnownToken[],
): string[] {
  return listFields(operation).flatMap(({ name, isToken, amountOf }) => {
    const value = input[name];
    if (typeof value !== 'string') return [];
    if (isToken) return explain(name, explainToken(value, tokens));
    if (amountOf === undefined) return [];
    const reference = amountOf === null ? NATIVE : (input[amountOf] ?? NATIVE);
    const [token, ...others] = typeof reference === 'string' ? matchToken(reference, tokens) : [];
    return token && others.length === 0 ? explain(name, explainAmount(value, token)) : [];
  });
}

const explain = (name: string, problem: string | null): string[] =>
  problem === null ? [] : [`input.${name} ${problem}`];

function matchToken(reference: string, tokens: readonly KnownToken[]): readonly KnownToken[] {
  const wanted = reference.toLowerCase();
  const named = tokens.filter(({ names }) => names.includes(wanted));
  if (named.length > 0 || !isAddress(reference, { strict: false })) return named;
  return tokens.filter(({ address }) => address.toLowerCase() === wanted);
}

function explainToken(reference: string, tokens: readonly KnownToken[]): string | null {
  const isNamed = tokens.some(({ names }) => names.includes(reference.toLowerCase()));
  if (!isNamed && isAddress(reference, { strict: false })) {
    const isMistyped = !isAddress(reference, { strict: true });
    return isMistyped ? 'must be an address with a valid checksum (the case of its letters)' : null;
  }
  const { length } = matchToken(reference, tokens);
  if (length === 1) return null;
  if (length > 1) return 'is the symbol of several tokens: use the address of the right one';
  const symbols = tokens.slice(0, MOST_SHOWN).map(({ symbol }) => symbol);
  return `must be 0x0, an address, or a symbol of the chain's token list: ${symbols.join(', ')}`;
}

function explainAmount(amount: string, { symbol, decimals }: KnownToken): string | null {
  // `MAX`, and a 0 with a special meaning, are valid amounts of any token.
  if (!/[1-9]/.test(amount)) return null;
  try {
    parseTokenAmount(amount, decimals);
    return null;
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    const hasTooMany = (amount.split('.')[1] ?? '').length > decimals;
    return hasTooMany
      ? `must have at most ${decimals} decimals, as ${symbol} has`
      : `is more than the largest possible amount of ${symbol}`;
  }
}
