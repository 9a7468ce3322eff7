import type { ListedDifference } from '@tollgate/book';
import type { ReconcileAnswer } from '@tollgate/operator-api';

import { CommandError } from '../shared/cli-command.js';
import { formatTable } from '../shared/format-table.js';
import { AMOUNT_COLUMNS, readAmounts, type ShowAmount } from './amounts.js';
import { OperatorApi, type OperatorPlace } from './operator-api.js';

export interface ReconcileOptions extends OperatorPlace {
  from?: string;
  to?: string;
  json?: boolean;
}

/** Prints the lists. @throws CommandError when one is not empty, and when the comparison is not of now */
export async function reconcile(
  { from, to, json, ...options }: ReconcileOptions,
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<void> {
  const operator = new OperatorApi(options, env);
  const answer = await operator.ask('GET /operator/reconcile', { query: { from, to } });
  const { chainOnly, bookOnly, different, trouble, comparedAt } = answer;
  if (json === true) print(JSON.stringify(answer, null, 2));
  // Lists of another time must not look like those of now.
  else if (trouble === null && comparedAt !== null) print(describe(answer, await readAmounts(operator)));
  if (trouble !== null || comparedAt === null) throw new CommandError(`The comparison is not of now: ${trouble}.`);
  const count = chainOnly.length + bookOnly.length + different.length;
  if (count > 0) throw new CommandError(`Chain and book differ in ${count === 1 ? '1 place' : `${count} places`}.`);
}

function describe(
  { chainOnly, bookOnly, different, unreconciled, waiting, ...answer }: ReconcileAnswer,
  show: ShowAmount,
): string {
  const { block, firstBlock, comparedAt, completeFrom } = answer;
  const sums = unreconciled.map(({ asset, amount }) => `${amount} base units of ${asset}`);
  return [
    block === null
      ? 'No block has been compared yet.'
      : `Blocks ${firstBlock} to ${block} are compared, at ${comparedAt}. The book is complete from ${completeFrom}.`,
    ...describeList('On the chain only', chainOnly, show),
    ...describeList('In the book only', bookOnly, show),
    ...describeList('Different', different, show),
    `Difference: ${sums.length === 0 ? '0' : sums.join(', ')}.`,
    ...(waiting.transfers + waiting.payments === 0
      ? []
      : [`Seen lately, and not compared yet: ${waiting.transfers} transfers, ${waiting.payments} payments.`]),
  ].join('\n');
}

function describeList(title: string, list: readonly ListedDifference[], show: ShowAmount): string[] {
  if (list.length === 0) return [`${title}: nothing.`];
  const rows = list.map(({ at, subject, asset, amount, reason }) => [
    at,
    subject,
    ...show(asset, amount),
    asset,
    reason,
  ]);
  return [`${title}:`, formatTable(['TIME', 'WHAT', ...AMOUNT_COLUMNS, 'ASSET', 'REASON'], rows)];
}
