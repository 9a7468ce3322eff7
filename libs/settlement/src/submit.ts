import { crashPoint, type LaneId } from '@tollgate/journal';

import type { AttemptEnd, SentBatch } from './attempt.js';
import type { ReadyBatch } from './batch.js';
import { encodeSettlementJob, stepFor } from './settlement-job.js';
import type { Relayer, SettlementParts } from './settlement-parts.js';
import type { EndedJob } from './state/job-watch.js';

type SubmitParts = Pick<SettlementParts, 'journal' | 'jobs' | 'records' | 'wallets'>;

/** A job before it is submitted. */
export interface NamedJob {
  jobId: string;
  /** Its relayer: under scheme `upto` the one that the payer signed, otherwise the one that was asked. */
  lane: LaneId;
  /** On Redis's clock; the journal does not accept it later. */
  latestMs: number;
}

/** Not awaited: every payment of a batch that is not sent has ended. */
const NOTHING_SENT = Promise.resolve<EndedJob>({ outcome: 'unknown' });

/** Writes the job that settles the batch into the journal. From there it is sent, whichever process goes on. */
export async function submit(
  { journal, jobs, records, wallets }: SubmitParts,
  { lane, runner, planner, onTrouble }: Relayer,
  job: NamedJob,
  { attempts, ends, transaction }: ReadyBatch,
): Promise<SentBatch> {
  const { jobId } = job;
  if (attempts.length === 0) return { jobId, attempts, ends, mined: NOTHING_SENT, paid: null };
  const payload = encodeSettlementJob(attempts.map(({ payment }) => payment));
  const named = { ...job, ...payload, wallet: 'relayer', keyId: 'verifier' };
  if (transaction) planner.remember(jobId, transaction);
  const mined = jobs.untilMined(jobId);
  try {
    crashPoint('S1');
    const submitted = await (transaction === null
      ? journal.submitNamed(named)
      : runner.launch({ ...named, step: stepFor(transaction) }));
    if (submitted.outcome === 'refused') {
      if (transaction?.walletCode) await wallets.release(jobId).catch(onTrouble);
      await Promise.all(attempts.map(({ record }) => records.release(record, jobId))).catch(onTrouble);
      const end: AttemptEnd = { outcome: 'unavailable', reason: `relayer_${submitted.reason}` };
      for (const attempt of attempts) ends.set(attempt, end);
    } else {
      crashPoint('S2');
      if (transaction === null && job.lane.address === lane.address) runner.wake(jobId);
    }
  } catch (error) {
    // StoreUnavailableError: unknown whether it was written; the journal will show it.
    onTrouble(error);
  }
  return { jobId, attempts, ends, mined, paid: null };
}
