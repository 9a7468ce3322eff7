import { formatTokenAmount } from '@tollgate/protocol';
import { formatEther } from 'viem';

import { showRequest } from '../payments/priced-request.js';
import { showAmount } from '../tokens/show-token.js';
import type { Plan } from '../types/plan.js';
import type { TokenAmount } from '../types/token.js';
import { quoteUntrusted } from '../types/untrusted-text.js';

/** What a person reads before confirming: what leaves, what arrives at least, approvals, fees, and every call. */
export function createPreview(plan: Omit<Plan, 'preview' | 'summaryLine'>, nativeSymbol: string): string {
  const { spends, receives, fees = [], warnings = [], steps, gasEstimate, payment, slippageBps } = plan;
  const rows: [string, string][] = [
    ...spends.map((amount): [string, string] => ['leaves', `at most ${showAmount(amount)}`]),
    ...receives.map((amount): [string, string] => ['arrives', `at least ${showAmount(amount)}`]),
    ...plan.recipients.map((recipient): [string, string] => ['goes to', recipient]),
    ...fees.map(({ label, text }): [string, string] => [label, text]),
  ];
  if (slippageBps !== undefined) rows.push(['slippage', `at most ${formatTokenAmount(BigInt(slippageBps), 2)} %`]);
  if (payment) rows.push(['buys', quoteUntrusted(showRequest(payment), 300)]);
  if (payment?.body !== undefined) rows.push(['sends', quoteUntrusted(payment.body, 500)]);
  steps.forEach(({ label }, index) => rows.push([`step ${index + 1}`, label]));
  if (gasEstimate) rows.push(['gas', `about ${formatEther(gasEstimate.feeWei)} ${nativeSymbol}`]);
  rows.push(...(payment?.skipped ?? []).map((reason): [string, string] => ['not paid', reason]));
  rows.push(...warnings.map((warning): [string, string] => ['warning', warning]));
  const width = Math.max(...rows.map(([name]) => name.length));
  return [plan.summary, ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)].join('\n');
}

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
