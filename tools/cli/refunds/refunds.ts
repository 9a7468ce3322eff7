import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';
import type { Refund } from '@tollgate/refunds';
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

/** As the operator API shows it. */
type ShownRefund = Refund & { jobState: string | null; planDigest: string | null };

interface Preview {
  /** The payment's state. */
  state: string;
  asset: string;
  decimals: number;
  arrived: string;
  taken: string;
  left: string;
  recipient: { address: string; kind: string } | null;
  boughtAnswer: boolean;
  doubts: string[];
  obstacles: { reason: string; detail: string }[];
}

export async function refund(payment: string, options: RefundOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { amount, reason, answered = false, number, preview: isPreview } = options;
  const operator = new OperatorApi(options, env);
  const preview = await operator.read<Preview>(`/operator/payments/${encodeURIComponent(payment)}/refund`);
  if (isPreview) return { json: preview, text: formatPreview(preview) };
  const asked = {
    ...{ payment, answered, number },
    ...(amount !== undefined && { amount: toBaseUnits(amount, preview.decimals) }),
    ...(reason !== undefined && { reason }),
  };
  const made = await operator.read<ShownRefund>('/operator/refunds', 'POST', asked);
  return { json: made, text: formatRefund(made, preview.state) };
}

export async function listRefunds(
  { state, payment, limit, ...place }: RefundListOptions,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(state !== undefined && { state }),
    ...(payment !== undefined && { payment }),
  });
  const path = `/operator/refunds?${query.toString()}`;
  const operator = new OperatorApi(place, env);
  const { refunds } = await operator.read<{ refunds: ShownRefund[] }>(path);
  if (refunds.length === 0) return { json: refunds, text: 'There is no such refund.' };
  const show = await readAmounts(operator);
  const rows = refunds.map(({ id, state: now, asset, amount, route, recipient, payment: of, detail }) => [
    ...[id, now, ...show(asset, amount), clean(route ?? '-'), recipient, of],
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
  const path = `/operator/refunds/${encodeURIComponent(id)}`;
  const operator = new OperatorApi(place, env);
  const decided =
    name === 'show'
      ? await operator.read<ShownRefund>(path)
      : await operator.read<ShownRefund>(`${path}/${name}`, 'POST');
  return { json: decided, text: formatRefund(decided) };
}

export async function markRefundPaid(
  id: string,
  transaction: string,
  place: OperatorPlace,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const path = `/operator/refunds/${encodeURIComponent(id)}/paid`;
  const paid = await new OperatorApi(place, env).read<ShownRefund>(path, 'POST', { transaction });
  return { json: paid, text: formatRefund(paid) };
}

/** @param paymentState as it was before */
function formatRefund(one: ShownRefund, paymentState?: string): string {
  const { id, state, payment, amount, recipient, job, jobState, transaction, doubts, detail } = one;
  const head = formatTable(
    ['REFUND', id],
    [
      ['state', state],
      ['payment', paymentState === undefined ? payment : `${payment}, which was ${paymentState}`],
      ['base units', amount],
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
  decimals,
  arrived,
  taken,
  left,
  recipient,
  boughtAnswer,
  doubts,
  obstacles,
}: Preview): string {
  const show = (amount: string): string => formatTokenAmount(BigInt(amount), decimals);
  const kind = recipient?.kind.replaceAll('_', ' ') ?? '';
  const head = formatTable(
    ['ARRIVED', show(arrived)],
    [
      ['payment is', state],
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
