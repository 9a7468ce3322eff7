import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import { AgentKitError } from '../types/agent-kit-error.js';
import type { Token, TokenAmount } from '../types/token.js';
import { showSymbol } from './show-token.js';

/**
 * The base units of a decimal amount of this token, exactly.
 * @throws AgentKitError `INVALID_INPUT` for 0, for more decimals than the token has, and for invalid amounts.
 */
export function parseAmount(text: string, token: Token): TokenAmount {
  const amountBaseUnits = readBaseUnits(text, token);
  if (amountBaseUnits === 0n) {
    throw new AgentKitError('INVALID_INPUT', `The amount of ${showSymbol(token)} must be more than 0.`, {
      details: { amount: text, smallest: formatTokenAmount(1n, token.decimals) },
    });
  }
  return { token, amountBaseUnits };
}

function readBaseUnits(text: string, token: Token): bigint {
  const { symbol, decimals } = token;
  try {
    return parseTokenAmount(text, decimals);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new AgentKitError('INVALID_INPUT', `${error.message} The token is ${showSymbol(token)}.`, {
      details: { ...error.details, symbol, decimals },
      ...(error.hint === undefined ? {} : { suggestion: error.hint }),
    });
  }
}
