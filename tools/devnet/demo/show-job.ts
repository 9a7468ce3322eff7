import type { AgentJobEvent, AgentJobView } from '@tollgate/protocol';

import { formatTable } from '../../cli/shared/format-table.js';
import type { TransactionTrace } from '../chain/trace-transaction.js';

/** Aligns columns; the last one may be as long as it likes. */
export function showTable(head: readonly string[], rows: readonly (readonly string[])[], margin = '    '): void {
  for (const line of formatTable(head, rows).split('\n')) console.log(margin + line);
}

export function showHeading(number: number | string, title: string): void {
  console.log(`\n━━ ${number}. ${title}\n`);
}

/** One line per event: the time since the request, the type, the state, the transaction. */
export function showEvent({ id, type, txHash, error }: AgentJobEvent, afterMs: number): void {
  const [, state = ''] = id.split(':');
  const seconds = `+${(afterMs / 1000).toFixed(2)} s`.padStart(8);
  const what = error ? `${error.code}: ${error.message}` : shortHash(txHash ?? '');
  console.log(`    ${seconds}  ${type.padEnd(20)}  ${state.padEnd(11)}  ${what}`.trimEnd());
}

/** The job's transactions as a block explorer shows them. */
export function showTraces(traces: readonly TransactionTrace[]): void {
  if (traces.length === 0) return console.log('\n    no transaction was sent');
  console.log('');
  showTable(
    ['transaction', 'to', 'method', 'gas', 'effect'],
    traces.map(({ hash, to, method, gasUsed, effects, status }) => [
      shortHash(hash),
      to,
      method,
      gasUsed.toLocaleString('en-US'),
      status === 'reverted' ? 'reverted: nothing but the gas' : effects.join(', '),
    ]),
  );
}

export function showAnswer({ answer }: AgentJobView): void {
  if (answer)
    console.log(`\n    answer ${answer.httpStatus}  ${answer.body?.replaceAll(/\s+/g, ' ').slice(0, 120) ?? ''}`);
}

function shortHash(hash: string): string {
  return hash === '' ? '' : `${hash.slice(0, 8)}…${hash.slice(-4)}`;
}
