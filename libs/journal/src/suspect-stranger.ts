import { flightName } from './flight-watch.js';
import { assertLease, writeFor, type LaneWork } from './lane-work.js';
import type { Head } from './rpc/chain.js';
import type { FlyingStep } from './settle-step.js';

/**
 * The nonce is used, and no attempt has a receipt: a node may be behind, or another program signs with the wallet's
 * key. After enough blocks, enough time and a last check of every server the job waits for an operator; it never gets
 * another nonce by itself. True: the job now waits for an operator.
 */
export async function suspectStranger(work: LaneWork, { job, step, nonce }: FlyingStep, head: Head): Promise<boolean> {
  const write = writeFor(work, job);
  if (!work.watch.suspectStranger(flightName(write), head.number, work.settings)) return false;
  if (step.attempts.length > 0 && (await work.chain.findReceipt(step.attempts.map(({ hash }) => hash)))) return false;
  const { outcome } = assertLease(
    await work.journal.needOperator({
      ...write,
      failure: {
        code: 'NONCE_TAKEN',
        message: `Nonce ${nonce} of the wallet was used by a transaction that the journal does not know.`,
        suggestion:
          'Find out what else signs for this wallet, then abandon the job, and submit it again if it is still wanted.',
      },
    }),
  );
  return outcome !== 'refused';
}
