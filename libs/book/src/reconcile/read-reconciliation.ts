import { z } from 'zod';

import type { Queryable } from '../database/database.js';
import { chainScope, readCompleteFrom, readChainPosition, type ChainScope } from './chain-scope.js';
import { DIFFERENCE_LISTS, listedDifference, sumDifferences, type ListedDifference } from './differences.js';
import { countWaiting } from './open-questions.js';

/** On the chain only, in the book only, and in both with different amounts; the first 1,000 of each. */
const differences = z.array(listedDifference).readonly();

/** How far an asset has been compared. */
export const comparedScope = chainScope.extend({
  firstBlock: z.int().nullable().describe('Earlier transfers are not compared.'),
  block: z.int().nullable().describe('The newest block that was read.'),
  readUntil: z.string().nullable().describe('The time of that block.'),
  completeFrom: z
    .string()
    .nullable()
    .describe(
      'Every change of money since then is in the book. Earlier money without an event is listed, and not booked.',
    ),
  waiting: z
    .object({ transfers: z.int(), payments: z.int() })
    .describe('Seen lately and not compared yet, at any time.'),
});

/** What chains and book do not agree on. */
export const reconciliation = z.object({
  scopes: z.array(comparedScope),
  chainOnly: differences,
  bookOnly: differences,
  different: differences,
  unreconciled: z
    .array(z.object({ asset: z.string(), amount: z.string() }))
    .readonly()
    .describe('The sum of all differences of each asset, in base units.'),
});
type Reconciliation = z.output<typeof reconciliation>;

const LISTED = 1_000;

/** The result of the last comparisons. Times limit the lists: milliseconds since 1970, from inclusive, to exclusive. */
export async function readReconciliation(
  within: Queryable,
  scopes: readonly ChainScope[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<Reconciliation> {
  const range = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  const lists: Record<string, ListedDifference[]> = {};
  for (const list of DIFFERENCE_LISTS) {
    const rows = await within.query<Omit<ListedDifference, 'at'> & { at: Date }>(
      `SELECT subject, transaction, asset, amount::text, at, reason FROM differences
        WHERE list = $1 AND at >= $2::timestamptz AND at < $3::timestamptz ORDER BY at, subject LIMIT $4`,
      [list, ...range, LISTED],
    );
    lists[list] = rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
  }
  const unreconciled = await sumDifferences(within, { fromMs, toMs });
  const compared: Reconciliation['scopes'] = [];
  for (const scope of scopes) compared.push(await readComparedScope(within, scope));
  const { chain_only: chainOnly = [], book_only: bookOnly = [], different = [] } = lists;
  return { scopes: compared, chainOnly, bookOnly, different, unreconciled };
}

async function readComparedScope(within: Queryable, scope: ChainScope): Promise<z.output<typeof comparedScope>> {
  const position = await readChainPosition(within, scope);
  const completeFromMs = await readCompleteFrom(within, scope.chainId);
  return {
    ...scope,
    firstBlock: position?.firstBlock ?? null,
    block: position === null ? null : position.nextBlock - 1,
    readUntil: toIso(position?.readUntilMs),
    completeFrom: toIso(completeFromMs),
    waiting: await countWaiting(within, scope, completeFromMs),
  };
}

function toIso(ms: number | null | undefined): string | null {
  return typeof ms === 'number' ? new Date(ms).toISOString() : null;
}
