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
  const old = answer.scopes.filter(({ trouble, comparedAt }) => trouble !== null || comparedAt === null);
  const current = onlyCurrent(answer, old);
  if (json === true) print(JSON.stringify(answer, null, 2));
  else if (current.scopes.length > 0) print(describe(current, await readAmounts(operator)));
  if (old.length > 0) throw new CommandError(describeOld(old, answer));
  const { chainOnly, bookOnly, different } = answer;
  const count = chainOnly.length + bookOnly.length + different.length;
  if (count > 0) throw new CommandError(`Chain and book differ in ${count === 1 ? '1 place' : `${count} places`}.`);
}

type ComparedScope = ReconcileAnswer['scopes'][number];
type Compared = Pick<ReconcileAnswer, 'scopes' | 'chainOnly' | 'bookOnly' | 'different' | 'unreconciled'>;

/** Lists of another time must not look like those of now. */
function onlyCurrent(
  { scopes, chainOnly, bookOnly, different, unreconciled }: Compared,
  old: ComparedScope[],
): Compared {
  const isCurrent = (asset: string): boolean => !old.some(({ chainId }) => asset.startsWith(`${chainId}:`));
  const keep = <One extends { asset: string }>(list: readonly One[]) => list.filter(({ asset }) => isCurrent(asset));
  return {
    scopes: scopes.filter((one) => !old.includes(one)),
    chainOnly: keep(chainOnly),
    bookOnly: keep(bookOnly),
    different: keep(different),
    unreconciled: keep(unreconciled),
  };
}

/** Each chain once. */
function describeOld(old: readonly ComparedScope[], { scopes }: Compared): string {
  const hasSeveral = scopes.some(({ chainId }) => chainId !== scopes[0]?.chainId);
  const lines = old.map(
    ({ chainId, trouble }) => `The comparison${hasSeveral ? ` with chain ${chainId}` : ''} is not of now: ${trouble}.`,
  );
  return [...new Set(lines)].join(' ');
}

function describe({ scopes, chainOnly, bookOnly, different, unreconciled }: Compared, show: ShowAmount): string {
  const sum = (of: 'transfers' | 'payments'): number => scopes.reduce((total, { waiting }) => total + waiting[of], 0);
  const waiting = { transfers: sum('transfers'), payments: sum('payments') };
  const sums = unreconciled.map(({ asset, amount }) => `${amount} base units of ${asset}`);
  return [
    ...scopes.map((scope) => {
      const [, symbol] = show(`${scope.chainId}:${scope.asset}`, null);
      return `${scopes.length === 1 ? '' : `${symbol} on chain ${scope.chainId} to ${scope.recipient}: `}${describeBlocks(scope)}`;
    }),
    ...describeList('On the chain only', chainOnly, show),
    ...describeList('In the book only', bookOnly, show),
    ...describeList('Different', different, show),
    `Difference: ${sums.length === 0 ? '0' : sums.join(', ')}.`,
    ...(waiting.transfers + waiting.payments === 0
      ? []
      : [`Seen lately, and not compared yet: ${waiting.transfers} transfers, ${waiting.payments} payments.`]),
  ].join('\n');
}

function describeBlocks({ block, firstBlock, comparedAt, completeFrom }: ComparedScope): string {
  return block === null
    ? 'No block has been compared yet.'
    : `Blocks ${firstBlock} to ${block} are compared, at ${comparedAt}. The book is complete from ${completeFrom}.`;
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
