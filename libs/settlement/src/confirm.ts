import { AuthorizedTransfers, findMoved } from '@tollgate/chain';
import { crashPoint } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import type { SettlementAttempt, AttemptEnd, SentBatch } from './attempt.js';
import type { JobWatch, MinedJob } from './state/job-watch.js';

/** Waits until the batch is mined, and reads from its logs whether the payment was settled. */
export async function confirm(
  { jobs, gas }: { jobs: JobWatch; gas: GasMemory },
  sent: SentBatch,
  attempt: SettlementAttempt,
): Promise<AttemptEnd> {
  const { jobId, attempts } = sent;
  const isShared = attempts.length > 1;
  const news = await sent.mined;
  if (news.outcome !== 'mined') return { outcome: 'ended', jobId, isShared, news };
  if (sent.paid === null) {
    crashPoint('S3');
    sent.paid = readPaid(attempts, news);
    const assets = attempts.flatMap(({ payment }) => (payment.kind === 'authorization' ? [payment.asset] : []));
    if (sent.paid.size === assets.length) gas.learn(assets, news.gasUsed);
  }
  const amountBaseUnits = sent.paid.get(attempt);
  if (amountBaseUnits !== undefined) return { outcome: 'settled', txHash: news.txHash, amountBaseUnits };
  // A failure is final only when no transaction of the job can be mined any more, in another block or as another
  // attempt.
  return { outcome: 'ended', jobId, isShared, news: await jobs.untilEnded(jobId) };
}

function readPaid(attempts: readonly SettlementAttempt[], { logs }: MinedJob): Map<SettlementAttempt, string> {
  const paid = new Map<SettlementAttempt, string>();
  const transfers = new AuthorizedTransfers(logs);
  for (const attempt of attempts) {
    const { payment } = attempt;
    if (payment.kind === 'permit2') {
      const moved = findMoved(logs, payment);
      if (moved !== null) paid.set(attempt, moved.toString());
    } else if (transfers.include(payment)) paid.set(attempt, payment.amountBaseUnits);
  }
  return paid;
}

/** Gas that a transaction takes before it makes any call. */
const BASE_GAS = 21_000n;
/** Allows for a recipient or payer that is new to the token. */
const SLACK_PERCENT = 35n;
/** The same for several of them in one transaction that is not simulated. */
const UNTRIED_SLACK_PERCENT = 100n;

/**
 * The gas that settling one payment takes, by token, learned from receipts: estimating each time would run every
 * payment a dozen times. A value that is too low shows in the simulation, before anything is sent.
 */
export class GasMemory {
  readonly #byAsset = new Map<Hex, bigint>();

  /** @param cap for one payment, and for tokens not learned yet */
  constructor(private readonly cap: bigint) {}

  /** The gas limit for a transaction that settles one payment in each of these tokens. */
  limitFor(assets: readonly Hex[]): bigint {
    return this.#add(
      assets.map((asset) => this.#byAsset.get(asset) ?? this.cap),
      SLACK_PERCENT,
    );
  }

  /** The same when the transaction as a whole is not simulated; null while a token is not learned yet. */
  limitForUntried(assets: readonly Hex[]): bigint | null {
    const known = assets.flatMap((asset) => this.#byAsset.get(asset) ?? []);
    return known.length < assets.length ? null : this.#add(known, UNTRIED_SLACK_PERCENT);
  }

  #add(own: readonly bigint[], slackPercent: bigint): bigint {
    return BASE_GAS + own.reduce((sum, gas) => sum + least((gas * (100n + slackPercent)) / 100n, this.cap), 0n);
  }

  /** Learns from a transaction that settled one payment in each of these tokens, if they are all the same. */
  learn(assets: readonly Hex[], gasUsed: bigint): void {
    const [asset, ...others] = new Set(assets);
    if (asset === undefined || others.length > 0) return;
    const each = (gasUsed - BASE_GAS) / BigInt(assets.length) + 1n;
    const known = this.#byAsset.get(asset);
    if (known === undefined || each > known) this.#byAsset.set(asset, each);
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
