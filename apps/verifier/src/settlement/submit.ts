import { crashPoint, type LaneId, type SubmitResult } from '@tollgate/journal';

import type { SentBatch } from './attempt.js';
import type { ReadyBatch } from './batch.js';
import { encodeSettlementJob } from './payments/settlement-job.js';
import type { Relayer } from './relayers/relayer.js';
import { stepFor } from './relayers/settlement-planner.js';
import type { SettlementParts } from './settlement-parts.js';
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
  parts: SubmitParts,
  relayer: Relayer,
  job: NamedJob,
  { attempts, ends, transaction }: ReadyBatch,
): Promise<SentBatch> {
  const { jobId } = job;
  const { onTrouble } = relayer;
  if (attempts.length === 0) return { jobId, attempts, ends, mined: NOTHING_SENT, paid: null };
  if (transaction) relayer.planner.remember(jobId, transaction);
  const mined = parts.jobs.untilMined(jobId);
  try {
    const submitted = await write(parts, relayer, job, { attempts, ends, transaction });
    if (submitted.outcome === 'refused') {
      if (transaction && transaction.walletCode !== null) await parts.wallets.release(jobId).catch(onTrouble);
      await Promise.all(attempts.map(({ record }) => parts.records.release(record, jobId))).catch(onTrouble);
      for (const attempt of attempts) {
        ends.set(attempt, { outcome: 'unavailable', reason: `relayer_${submitted.reason}` });
      }
    }
  } catch (error) {
    // Unknown whether it was written; the journal will show it.
    onTrouble(error);
  }
  return { jobId, attempts, ends, mined, paid: null };
}

/** @throws JournalUnavailableError: whether it was written is unknown */
async function write(
  { journal }: SubmitParts,
  { lane, runner }: Relayer,
  job: NamedJob,
  { attempts, transaction }: ReadyBatch,
): Promise<SubmitResult> {
  const payload = encodeSettlementJob(attempts.map(({ payment }) => payment));
  const named = { ...job, ...payload, wallet: 'relayer', keyId: 'verifier' };
  crashPoint('S1');
  const submitted = await (transaction === null
    ? journal.submitNamed(named)
    : runner.launch({ ...named, step: stepFor(transaction) }));
  if (submitted.outcome === 'refused') return submitted;
  crashPoint('S2');
  if (transaction === null && job.lane.address === lane.address) runner.wake(job.jobId);
  return submitted;
}
