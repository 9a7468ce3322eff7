import { readRefundJob, type RefundJobInput } from '@tollgate/agent-jobs';
import type { Refund } from '@tollgate/book';
import { isFinal, type JobRecord } from '@tollgate/journal';
import type { CloseResult } from '@tollgate/ledger';
import { canonicalJson, type Hex } from '@tollgate/protocol';

/** What the attempt's job sends. */
export function describeInput({ id, attempt, payment, asset, amount, recipient, doubts }: Refund): RefundJobInput {
  const needsApproval = doubts.length > 0;
  return { refund: id, attempt, payment, token: asset, amount, to: recipient, needsApproval };
}

/**
 * When the attempt began, in milliseconds since 1970: a job may have been written since then. The first one may be older than
 * this row, in a book that was restored.
 */
export function beginOf({ attempt, attemptAt }: Refund, closed: CloseResult): number {
  const atMs = Date.parse(attemptAt);
  return attempt === 1 && closed.outcome === 'closed_before' ? Math.min(closed.sinceMs, atMs) : atMs;
}

/** Whether it needs an approval may differ: the doubts of a book that was restored are others. */
export function isSameTransfer(job: JobRecord, input: RefundJobInput): boolean {
  const known = readRefundJob(job);
  const { needsApproval } = input;
  return known !== null && canonicalJson({ ...known, needsApproval }) === canonicalJson({ ...input });
}

/**
 * Whether the job ended without success. Nothing of it is on the chain, unless an operator abandoned it: then that is not
 * known.
 */
export const hasFailed = ({ state }: JobRecord): boolean => isFinal(state) && state !== 'FINAL';

/** The hashes of all transactions that a job has signed. */
export function listHashes({ steps }: JobRecord): string[] {
  return steps.flatMap(({ attempts }) => attempts.map(({ hash }) => hash));
}

/** The transaction of a job that is final. */
export function minedTransaction({ id, steps }: JobRecord): Hex {
  const mined = steps.at(-1)?.mined ?? null;
  if (mined === null) throw new Error(`job ${id} is final and has no transaction`);
  return mined.hash;
}
