import {
  UnreadableJobError,
  type FillResult,
  type JobRecord,
  type Journal,
  type LaneId,
  type LaneStatus,
  type RefusalReason,
} from '@tollgate/journal';
import { JOB_STATES } from '@tollgate/protocol';
import { z } from 'zod';

/** A job whose transaction a fill takes the place of. */
const filledJob = z.object({
  id: z.string(),
  isParked: z
    .boolean()
    .describe('It waits for an operator with its bytes: resuming it sends them, and a fill cancels it.'),
  state: z.enum(JOB_STATES).nullable().describe('Null where its record cannot be read.'),
  operation: z.string().nullable(),
  step: z.string().nullable().describe('What the transaction does.'),
  valueWei: z.string().nullable().describe('Wei that it sends.'),
  transactions: z
    .array(z.string())
    .readonly()
    .describe("Hashes of the step's transactions: if one of them is mined after all, it takes the nonce."),
});
type FilledJobView = z.output<typeof filledJob>;

/** The nonce that the chain wants and nothing uses: all later transactions of the wallet wait for it. */
export const nonceGap = z.object({
  nonce: z.int(),
  job: filledJob.nullable().describe('The job that had the nonce; null: none that is stored.'),
  isUnheld: z.boolean().describe('A worker may fill it without an operator: the journal never had a job for it.'),
});
export type NonceGapView = z.output<typeof nonceGap>;

/** Null: the lane has no gap. */
export async function describeGap(
  journal: Pick<Journal, 'readEachJob'>,
  { gap }: Pick<LaneStatus, 'gap'>,
): Promise<NonceGapView | null> {
  if (gap === null) return null;
  const { nonce, hadBy, isUnheld } = gap;
  if (hadBy === null) return { nonce, job: null, isUnheld };
  const [job = null] = await journal.readEachJob([hadBy.jobId]);
  return { nonce, job: describeHolder(hadBy, job), isUnheld };
}

function describeHolder(
  { jobId, stepIndex }: NonNullable<NonNullable<LaneStatus['gap']>['hadBy']>,
  job: JobRecord | UnreadableJobError | null,
): FilledJobView {
  const known = job === null || job instanceof UnreadableJobError ? null : job;
  const step = known?.steps[stepIndex];
  return {
    id: jobId,
    isParked: known?.state === 'NEEDS_OPERATOR' && known.stepIndex === stepIndex,
    state: known?.state ?? null,
    operation: known?.operation ?? null,
    step: step?.label ?? null,
    valueWei: step?.value.toString() ?? null,
    transactions: step?.attempts.map(({ hash }) => hash) ?? [],
  };
}

/** One sentence. */
export function nameGap({ nonce, job }: NonceGapView): string {
  const had =
    job === null
      ? 'no stored job had it'
      : `job ${job.id} had it (${job.operation ?? 'unreadable'}, ${job.state ?? 'unknown'})`;
  return `nothing uses nonce ${nonce}, and all later transactions wait for it: ${had}`;
}

/** The command, or what to do. */
export function mendGap({ role, name }: { role: 'wallet' | 'relayer'; name: string | null }): string {
  return role === 'wallet' && name !== null
    ? `tollgate wallets fill ${name}`
    : 'Send a transfer of 0 from the account to itself with this nonce.';
}

/** Has the lane's worker fill the gap that the caller has seen. `keyId`: of the operator, or `console`. */
export function fillGap(
  journal: Pick<Journal, 'fillNonce'>,
  { nonce, job }: NonceGapView,
  by: { lane: LaneId; wallet: string; keyId: string },
): Promise<FillResult> {
  return journal.fillNonce({ ...by, nonce, hadBy: job?.id ?? null, mostPerHour: null });
}

/** Why a gap is not filled. */
export function explainNoFill(reason: RefusalReason): string {
  return DETAILS[reason] ?? `The journal refused: ${reason}.`;
}

const DETAILS: Partial<Record<RefusalReason, string>> = {
  lane_frozen:
    'Redis may have lost what the wallet has sent: fill the nonce once the wallet was compared with the chain.',
  no_gap: 'The wallet does not wait for this nonce any more.',
  lost_race: 'Another job has the nonce by now. Look again at what a fill would cancel.',
};
