import { formatEther } from 'viem';

import { showAmount } from '../tokens/show-token.js';
import type { TokenAmount } from '../tokens/token.js';
import type { Plan } from './plan.js';

// Untrusted text is cut; amounts, addresses and the gas never are.
const MAX_ACTION_LENGTH = 2_500;
const MAX_WARNING_LENGTH = 300;
const MOST_WARNINGS = 5;

/**
 * A plan on one line of printable ASCII, for approval dialogs, which show the arguments of a tool call. Untrusted text
 * cannot break the line, reverse its direction or start a part of its own: other characters and `|` are escaped.
 * @param spending the most that the plan takes out of the account, independent of its own description.
 */
export function createSummaryLine(
  plan: Omit<Plan, 'preview' | 'summaryLine'>,
  spending: readonly TokenAmount[],
  nativeSymbol: string,
): string {
  const { operation, summary, receives, recipients, warnings = [], gasEstimate, account, chainId } = plan;
  const leaves = spending.map(showAmount).join(' and ');
  const arrives = receives.map(showAmount).join(' and ');
  return [
    cut(`${operation}: ${toAscii(summary)}`, MAX_ACTION_LENGTH),
    leaves === '' ? 'no amount leaves' : `at most ${toAscii(leaves)} leaves`,
    arrives === '' ? 'no amount arrives' : `at least ${toAscii(arrives)} arrives`,
    `recipient ${toAscii(recipients.join(' and ')) || 'this account'}`,
    `gas ${gasEstimate ? `about ${formatEther(gasEstimate.feeWei)} ${toAscii(nativeSymbol)}` : 'not estimated'}`,
    `account ${account} on chain ${chainId}`,
    ...warnings.slice(0, MOST_WARNINGS).map((warning) => `warning: ${cut(toAscii(warning), MAX_WARNING_LENGTH)}`),
  ]
    .join(' | ')
    .replace(/ +/g, ' ')
    .trim();
}

function toAscii(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replaceAll('’', "'")
    .replace(/[^ -~]|\|/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .trim();
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}...`;
}
