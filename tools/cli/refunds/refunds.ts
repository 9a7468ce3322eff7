import type { OperatorRefund } from '@tollgate/operator-api';
import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';
import type { RefundPreview } from '@tollgate/refunds';
import { InvalidArgumentError } from 'commander';

import { AMOUNT_COLUMNS, readAmounts } from '../book/amounts.js';
import { OperatorApi, type OperatorPlace } from '../book/operator-api.js';
import { clean } from '../jobs/format-jobs.js';
import type { CommandResult } from '../shared/cli-command.js';
import { formatTable } from '../shared/format-table.js';

export interface RefundOptions extends OperatorPlace {
  amount?: string;
  reason?: string;
  answered?: true;
  number: number;
  preview?: true;
}

export interface RefundListOptions extends OperatorPlace {
  state?: string;
  payment?: string;
  limit: number;
}

export async function refund(payment: string, options: RefundOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { amount, reason, answered = false, number, preview: isPreview } = options;
  const operator = new OperatorApi(options, env);
  const preview = await operator.ask('GET /operator/payments/:id/refund', { id: payment });
  if (isPreview) return { json: preview, text: formatPreview(preview) };
  const body = {
    payment,
    amount: amount === undefined ? undefined : toBaseUnits(amount, preview.decimals),
    reason,
    answered,
    number,
  };
  const made = await operator.ask('POST /operator/refunds', { body });
  return { json: made, text: formatRefund(made, preview.state) };
}

export async function listRefunds(
  { state, payment, limit, ...place }: RefundListOptions,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const operator = new OperatorApi(place, env);
  const { refunds } = await operator.ask('GET /operator/refunds', { query: { limit, state, payment } });
  if (refunds.length === 0) return { json: refunds, text: 'There is no such refund.' };
  const show = await readAmounts(operator);
  const rows = refunds.map(({ id, state: now, chainId, asset, amount, route, recipient, payment: of, detail }) => [
    ...[id, now, ...show(`${chainId}:${asset}`, amount), clean(route ?? '-'), recipient, of],
    clean(detail ?? ''),
  ]);
  const head = ['REFUND', 'STATE', ...AMOUNT_COLUMNS, 'ROUTE', 'PAYER', 'PAYMENT', ''];
  return { json: refunds, text: formatTable(head, rows) };
}

export async function decideRefund(
  name: 'show' | 'retry' | 'give-up',
  id: string,
  place: OperatorPlace,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const route = name === 'show' ? 'GET /operator/refunds/:id' : (`POST /operator/refunds/:id/${name}` as const);
  const decided = await new OperatorApi(place, env).ask(route, { id });
  return { json: decided, text: formatRefund(decided) };
}

export async function markRefundPaid(
  id: string,
  transaction: string,
  place: OperatorPlace,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const paid = await new OperatorApi(place, env).ask('POST /operator/refunds/:id/paid', { id, body: { transaction } });
  return { json: paid, text: formatRefund(paid) };
}

/** @param paymentState as it was before */
function formatRefund(one: OperatorRefund, paymentState?: string): string {
  const { id, state, payment, chainId, asset, amount, recipient, job, jobState, transaction, doubts, detail } = one;
  const head = formatTable(
    ['REFUND', id],
    [
      ['state', state],
      ['payment', paymentState === undefined ? payment : `${payment}, which was ${paymentState}`],
      ['base units', amount],
      ['token', `${asset} on chain ${chainId}`],
      ['to', recipient],
      ...(job === null ? [] : [['job', `${job} (${jobState ?? 'no longer stored'})`]]),
      ...(transaction === null ? [] : [['transaction', transaction]]),
      ...(detail === null ? [] : [['why', clean(detail)]]),
    ],
  );
  if (state !== 'sending' || doubts.length === 0) return head;
  const looks = doubts.map((doubt) => `  ${doubt}`).join('\n');
  return `${head}\n\nIt needs the approval of another API key:\n${looks}`;
}

function formatPreview({
  state,
  chainId,
  asset,
  decimals,
  arrived,
  taken,
  left,
  recipient,
  boughtAnswer,
  doubts,
  obstacles,
}: RefundPreview): string {
  const show = (amount: string): string => formatTokenAmount(BigInt(amount), decimals);
  const kind = recipient?.kind.replaceAll('_', ' ') ?? '';
  const head = formatTable(
    ['ARRIVED', show(arrived)],
    [
      ['payment is', state],
      ['token', `${asset} on chain ${chainId}`],
      ['refunded, or about to be', show(taken)],
      ['left', show(left)],
      ['goes to', recipient === null ? 'nobody: the chain shows no payer' : `${recipient.address} (${kind})`],
      ['bought an answer', boughtAnswer ? 'yes' : 'no'],
    ],
  );
  const list = (title: string, texts: readonly string[]): string[] =>
    texts.length === 0 ? [] : ['', title, ...texts.map((text) => `  ${text}`)];
  const against = obstacles.map(({ detail }) => detail);
  return [head, ...list('Needs an approval:', doubts), ...list('Not possible now:', against)].join('\n');
}

function toBaseUnits(amount: string, decimals: number): string {
  try {
    return parseTokenAmount(amount, decimals).toString();
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new InvalidArgumentError(`--amount must be a decimal amount with at most ${decimals} decimals`);
  }
}
