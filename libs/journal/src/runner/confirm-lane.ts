import { quoteFees, raiseFees } from '@tollgate/protocol';

import type { Head } from '../chain/chain.js';
import { crashPoint } from '../crash-point.js';
import { lastAttempt, type Attempt, type JobRecord } from '../jobs/job.js';
import type { StepReceipt } from '../jobs/ports.js';
import type { InFlightStep } from '../jobs/transition.js';
import { flightName } from '../lanes/flight-watch.js';
import { assertLease, LeaseLostError, writeFor, type LaneWork } from '../lanes/lane-work.js';
import { broadcast, putReplacement } from '../steps/broadcast.js';
import { concludeStep, putBackStep, type FlyingStep } from '../steps/conclude-step.js';
import { resendStep } from '../steps/resend.js';
import { nextWrite, placeOf } from '../steps/step-rules.js';
import { readSteps } from './read-steps.js';
import { tellFlights } from './tell-waits.js';
import { endFill } from './tend-gap.js';

export interface LanePass {
  /** Jobs that can be advanced now. */
  wake: string[];
  /** Jobs that have ended: the allowances they held are free. */
  ended: string[];
  /** Errors that kept single steps from being checked, which are checked again. */
  troubles: unknown[];
  head: Head;
  /** Null: nothing was in flight. */
  lowestNonce: number | null;
}

/**
 * Compares every step in flight with the chain, in a few batches of RPC calls. Notes mined steps, ends those that are
 * deep enough, puts back those that a reorganisation removed, and resends or replaces those that wait. `isBusy`: this
 * process is about to send that job's bytes.
 */
export async function confirmLane(work: LaneWork, isBusy: (jobId: string) => boolean): Promise<LanePass> {
  const { journal, chain, lease, signer, watch } = work;
  // The head must be read first. Every transaction it contains was journaled earlier, so its step is among those read
  // afterwards.
  const head = await chain.readHead(signer.address);
  const flights = await journal.readInFlight(lease.lane);
  watch.keepOnly(new Set(flights.map(flightName)));

  // Of those that this process is sending only what is mined needs a look.
  const due = flights.filter(
    (flight) => isDue(work, flight, head) && (flight.nonce < head.minedNonce || !isBusy(flight.jobId)),
  );
  const steps = await readSteps(work, due);
  const found = await readFindings(work, steps, head);
  const checked: FlyingStep[] = [];
  const pass: LanePass = { wake: [], ended: [], troubles: [], head, lowestNonce: flights[0]?.nonce ?? null };
  await Promise.all(
    steps.map(async (step) => {
      const outcome = await confirmStep(work, step, found(step), head, isBusy).catch((error: unknown) => {
        pass.troubles.push(error);
        return 'look again' as const;
      });
      if (outcome === 'wake') pass.wake.push(step.job.id);
      if (outcome === 'ended') pass.ended.push(step.job.id);
      if (outcome === 'checked' || outcome === 'look again') checked.push(step);
      if (outcome === 'checked') watch.noteChecked(flightName(writeFor(work, step.job)), head.hash);
    }),
  );
  const still = checked.filter(({ job }) => !isBusy(job.id));
  await tellFlights(work, still, { head, lowest: flights[0] ?? null });
  const lost = pass.troubles.find((trouble) => trouble instanceof LeaseLostError);
  if (lost) throw lost;
  return pass;
}

/**
 * Whether a step must be checked now. A step that is not mined is skipped while an earlier nonce blocks it and it was
 * sent recently.
 */
function isDue({ watch, settings }: LaneWork, flight: InFlightStep, head: Head): boolean {
  const name = flightName(flight);
  if (flight.nonce < head.minedNonce || watch.isMined(name)) return !watch.isChecked(name, head.hash);
  if (watch.isUnderpriced(name) || watch.isSentBefore(name, settings.resendAfterMs)) return true;
  return flight.nonce === head.minedNonce && watch.isSentBefore(name, settings.replaceAfterMs);
}

/**
 * What the chain reports about a step: the receipt of one of its attempts, and the block now at the height where it was
 * mined.
 */
interface Finding {
  receipt: StepReceipt | null;
  /** The block now at the height where the journal has the step mined; null: unknown. */
  blockHashAtMined: string | null;
  /** The highest block that was seen in the chain, which grows while it is read. */
  highest: number;
}

async function readFindings(
  { chain }: LaneWork,
  steps: readonly FlyingStep[],
  head: Head,
): Promise<(step: FlyingStep) => Finding> {
  const hashes = steps.flatMap(({ step }) => step.attempts.map(({ hash }) => hash));
  const receipts = new Map((await chain.readReceipts(hashes)).map((receipt, index) => [hashes[index], receipt]));
  const mined = steps.flatMap(({ step }) => (step.mined ? [step.mined.blockNumber] : []));
  const numbers = [...receipts.values()].flatMap((receipt) => (receipt ? [receipt.blockNumber] : []));
  // The head came with its own hash. A wallet that waits for that block only needs no further request.
  const others = new Set([...mined, ...numbers].filter((number) => number !== head.number));
  const blocks = await chain.readBlockHashes([...others]);
  blocks.set(head.number, head.hash);
  // A receipt counts only while its block is the canonical one at that height.
  const isCanonical = (receipt: StepReceipt | null | undefined): receipt is StepReceipt =>
    receipt !== null && receipt !== undefined && blocks.get(receipt.blockNumber) === receipt.blockHash;
  const inChain = [...receipts.values()].filter(isCanonical);
  const highest = Math.max(head.number, ...inChain.map(({ blockNumber }) => blockNumber));
  return ({ step }) => ({
    highest,
    receipt: step.attempts.map(({ hash }) => receipts.get(hash)).find(isCanonical) ?? null,
    blockHashAtMined: step.mined ? (blocks.get(step.mined.blockNumber) ?? null) : null,
  });
}

async function confirmStep(
  work: LaneWork,
  flying: FlyingStep,
  { receipt, blockHashAtMined, highest }: Finding,
  head: Head,
  isBusy: (jobId: string) => boolean,
): Promise<'checked' | 'ended' | 'look again' | 'wake'> {
  const { job, step, nonce } = flying;
  if (receipt) return concludeStep(work, flying, receipt, { number: highest });
  if (step.mined) {
    if (blockHashAtMined === null || blockHashAtMined === step.mined.blockHash) return 'look again';
    await putBackStep(work, flying, step.mined.blockHash);
    return 'look again';
  }
  if (nonce < head.minedNonce && (await suspectForeignNonce(work, flying, head))) return 'checked';
  if (isBusy(job.id)) return nonce < head.minedNonce ? 'look again' : 'checked';

  if (['reserved', 'void'].includes(placeOf(job))) return 'wake';
  if (!(await replaceStuck(work, flying, head))) await sendAgain(work, flying);
  return nonce < head.minedNonce ? 'look again' : 'checked';
}

async function sendAgain(work: LaneWork, { job, step }: FlyingStep): Promise<void> {
  const isLongAgo = work.watch.isSentBefore(flightName(writeFor(work, job)), work.settings.resendAfterMs);
  if (isLongAgo && !work.retries.isPutOff(job.id)) await resendStep(work, job, step);
}

/**
 * The nonce is used, and no attempt has a receipt: a node may be behind, or another program signs with the wallet's
 * key. After enough blocks, enough time and a last check of every server the job waits for an operator; it never gets
 * another nonce by itself. True: the job now waits for an operator.
 */
async function suspectForeignNonce(work: LaneWork, flying: FlyingStep, head: Head): Promise<boolean> {
  const { job, step, nonce } = flying;
  const write = writeFor(work, job);
  if (nextWrite('nonce_is_used', placeOf(job)) !== 'needOperator') return false;
  if (!work.watch.suspectForeignNonce(flightName(write), head.number, work.settings)) return false;
  if (step.attempts.length > 0 && (await work.chain.findReceipt(step.attempts.map(({ hash }) => hash)))) return false;
  const ended = await endFill(work, flying);
  if (ended !== null) return ended;
  const { outcome } = assertLease(
    await work.journal.needOperator({
      ...write,
      failure: {
        code: 'NONCE_TAKEN',
        message: `Nonce ${nonce} of the wallet was used by a transaction that the journal does not know.`,
        suggestion:
          "Look at that transaction. If it does what the job should do, Redis has lost that the job sent it: then do not submit the job again. Else find out what else signs with the wallet's key. Then abandon the job.",
      },
    }),
  );
  return outcome !== 'refused';
}

/**
 * Signs a waiting step again with higher fees, if it blocks the lane or its fees are too low to be mined. False: it is
 * not stuck, or the caps leave no room.
 */
async function replaceStuck(work: LaneWork, { job, step, nonce }: FlyingStep, head: Head): Promise<boolean> {
  const last = lastAttempt(step);
  const isSlow = last !== undefined && isStuck(work, job, last, nonce, head);
  if (!isSlow || nextWrite('too_slow', placeOf(job)) !== 'putReplacement') return false;
  const fees = raiseFees(last, quoteFees(head.fees, work.settings), work.settings);
  if (!fees) return false;
  const stored = await putReplacement(work, job, step, fees);
  crashPoint('F9');
  if (stored) await broadcast(work, job, stored);
  return stored !== null;
}

function isStuck({ watch, settings, lease }: LaneWork, job: JobRecord, last: Attempt, nonce: number, head: Head) {
  const flight = flightName(writeFor({ lease }, job));
  if (watch.isUnderpriced(flight)) return true;
  const isNext = nonce === head.minedNonce;
  const isTooCheap = last.maxFeePerGas < (head.fees.baseFeePerGas ?? 0n);
  return (isNext || isTooCheap) && watch.hasWaited(flight, last.hash, settings.replaceAfterMs);
}
