import { formatTokenAmount } from '@tollgate/protocol';
import { formatEther } from 'viem';

import { showAmount } from '../tokens/show-token.js';
import { quoteUntrusted } from '../tokens/untrusted-text.js';
import type { Plan } from './plan.js';

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
  if (payment) rows.push(['buys', quoteUntrusted(payment.url, 200)]);
  steps.forEach(({ label }, index) => rows.push([`step ${index + 1}`, label]));
  if (gasEstimate) rows.push(['gas', `about ${formatEther(gasEstimate.feeWei)} ${nativeSymbol}`]);
  rows.push(...warnings.map((warning): [string, string] => ['warning', warning]));
  const width = Math.max(...rows.map(([name]) => name.length));
  return [plan.summary, ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)].join('\n');
}
