import type { Hex } from '@tollgate/protocol';

import type { Head } from '../chain/chain.js';
import type { JobFailure } from '../jobs/job.js';
import { FILL } from '../jobs/keys.js';
import { UnreadableJobError } from '../jobs/parse-job.js';
import type { LaneStatus } from '../jobs/transition.js';
import { assertLease, writeFor, type LaneWork } from '../lanes/lane-work.js';
import type { FlyingStep } from '../steps/conclude-step.js';

/**
 * Notes a gap for operators, and fills it without one where the setting says so, the lane has never given out its nonce,
 * and all RPC servers, two at least, show neither a mined nor a pending transaction with it for as long as it is doubted.
 */
export async function tendGap(
  work: LaneWork,
  { gap: noted, frozen, paused }: LaneStatus,
  { lowest, head }: { lowest: number; head: Head },
): Promise<void> {
  const { journal, lease, gap, agreedGap, fills, settings } = work;
  const { nonce } = gap;
  if (nonce !== (noted?.nonce ?? null)) {
    assertLease(await journal.noteGap(lease.lane, { token: lease.token, nonce }));
    return;
  }
  if (fills === null) return;
  const isTried = nonce !== null && noted?.isUnheld === true && frozen === null && paused === null;
  const isAgreed = isTried && (await isShownByAll(work, nonce));
  agreedGap.look(lowest, { ...head, minedNonce: isAgreed ? nonce : lowest }, settings);
  if (nonce === null || agreedGap.nonce !== nonce) return;
  const { wallet, mostPerHour } = fills;
  await journal.fillNonce({ lane: lease.lane, nonce, wallet, keyId: 'worker', hadBy: null, mostPerHour });
}

async function isShownByAll({ chain, signer }: LaneWork, nonce: number): Promise<boolean> {
  const counts = await chain.readCounts(signer.address);
  return counts.length > 1 && counts.every(({ mined, pending }) => mined === nonce && pending === nonce);
}

/**
 * Ends a fill whose nonce another transaction has used: the wallet goes on. Null: the job is no fill; true: it has
 * ended.
 */
export async function endFill(work: LaneWork, { job, nonce }: FlyingStep): Promise<boolean | null> {
  if (job.operation !== FILL) return null;
  // Written by `fillNonce`.
  const { hadBy } = job.input as { hadBy: string | null };
  const own = hadBy === null ? null : await findMined(work, hadBy, nonce);
  const by = own === null ? 'another transaction' : `the transaction of job ${hadBy}, ${own}`;
  const failure: JobFailure = {
    code: 'NONCE_TAKEN',
    message: `Nonce ${nonce} was used by ${by}, before the fill was mined.`,
    suggestion:
      hadBy === null || own !== null
        ? 'Nothing is left to fill.'
        : `Look at that transaction: if it is none of the job's, job ${hadBy} has not taken place, although it ended as if it had.`,
  };
  return assertLease(await work.journal.endFill({ ...writeFor(work, job), failure })).outcome !== 'refused';
}

/** The hash of the job's transaction with the nonce that is mined after all. */
async function findMined({ journal, chain }: LaneWork, jobId: string, nonce: number): Promise<Hex | null> {
  const [job] = await journal.readEachJob([jobId]);
  if (!job || job instanceof UnreadableJobError) return null;
  const attempts = job.steps.filter((step) => step.nonce === nonce).flatMap((step) => step.attempts);
  const receipt = await chain.findReceipt(attempts.map(({ hash }) => hash));
  return receipt?.transactionHash ?? null;
}
