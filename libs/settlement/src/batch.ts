import { LuaScript, type RedisClient } from '@tollgate/redis';

import {
  type SettlementAttempt,
  type AttemptEnd,
  type Batch,
  type EarlyEnds,
  unavailableBy,
  type SettlementRecord,
  type UnmadeSettlement,
} from './attempt.js';
import type { ContractWallets } from './contract-wallets.js';
import keepAnswer from './scripts/keep-answer.lua';
import releaseRecord from './scripts/release-record.lua';
import replaceRecord from './scripts/replace-record.lua';
import type { Simulated, SimulatedTransaction, Simulation } from './simulate.js';

interface BatchParts {
  records: SettlementRecords;
  wallets: ContractWallets;
  simulation: Simulation;
}

export interface ReadyBatch {
  /** What the job settles; none when nothing is to be sent. */
  attempts: readonly SettlementAttempt[];
  ends: EarlyEnds;
  /** Null for a payment that is planned by the relayer that sends it. */
  transaction: SimulatedTransaction | null;
}

/**
 * Records the job as the one that settles the payments of the batch, leaves out what must not be sent, and holds the gas
 * that a contract wallet may burn.
 */
export async function batch(
  parts: BatchParts,
  { onTrouble }: { onTrouble: (error: unknown) => void },
  { attempts }: Batch,
  jobId: string,
  simulating: Promise<Simulated>,
): Promise<ReadyBatch> {
  const [lost, simulated] = await Promise.all([claim(parts, attempts, jobId, onTrouble), simulating]);
  const own = attempts.filter((attempt) => !lost.has(attempt));
  const ready = own.filter((attempt) => !simulated.ends.has(attempt));
  const ends: EarlyEnds = new Map([...simulated.ends, ...lost]);
  let transaction = ready.length === 0 ? null : simulated.transaction;
  if (transaction && transaction.entries.length > ready.length) {
    const left = ready.map(({ payment }) => payment);
    transaction = parts.simulation.narrow(transaction, left);
  }
  const refusal = transaction?.running ? await admit(parts, jobId, transaction, onTrouble) : null;
  if (refusal) for (const attempt of ready) ends.set(attempt, refusal);
  const refused = own.filter((attempt) => ends.has(attempt));
  await Promise.all(refused.map(({ record }) => parts.records.release(record, jobId))).catch(onTrouble);
  return { attempts: refusal ? [] : ready, ends, transaction };
}

/**
 * Records the job as the one that settles these payments. Returns those that another job settles, or whose question was
 * answered before.
 */
async function claim(
  { records }: BatchParts,
  attempts: readonly SettlementAttempt[],
  jobId: string,
  onTrouble: (error: unknown) => void,
): Promise<EarlyEnds> {
  const ends: EarlyEnds = new Map();
  try {
    const [first] = attempts;
    // Only a payment that has failed before names its former job, and then it goes alone.
    const isTakenOver = first?.endedJobId != null && (await records.replace(first.record, first.endedJobId, jobId));
    const asked = attempts.map(({ record }) => record);
    const holdings = isTakenOver ? [] : await records.claim(asked, jobId);
    for (const [index, attempt] of attempts.entries()) {
      const holding = holdings[index] ?? { jobId };
      if ('answer' in holding) {
        ends.set(attempt, { outcome: 'answered', ...holding });
        continue;
      }
      attempt.flight.jobId = holding.jobId;
      if (holding.jobId !== jobId) ends.set(attempt, { outcome: 'elsewhere', ...holding });
    }
  } catch (error) {
    onTrouble(error);
    // Whether they were recorded is unknown.
    await Promise.all(attempts.map(({ record }) => records.release(record, jobId))).catch(onTrouble);
    for (const attempt of attempts) ends.set(attempt, unavailableBy(error));
  }
  return ends;
}

/** The reason why a contract wallet's job must not be sent; null when it may be. */
async function admit(
  { wallets }: BatchParts,
  jobId: string,
  { running, gas }: SimulatedTransaction,
  onTrouble: (error: unknown) => void,
): Promise<AttemptEnd | null> {
  try {
    const refusal = running && (await wallets.admit(jobId, { ...running, gas }));
    if (refusal === 'contract_wallets_busy') return { outcome: 'unavailable', reason: refusal };
    return refusal && { outcome: 'refused', failure: refusal };
  } catch (error) {
    onTrouble(error);
    return { outcome: 'unavailable', reason: 'redis_unavailable' };
  }
}

const REPLACE = new LuaScript(replaceRecord);
const RELEASE = new LuaScript(releaseRecord);
const ANSWER = new LuaScript(keepAnswer);

/** The longest time a record is kept before its payment expires, since a payment may be valid for ever. */
export const LONGEST_VALIDITY_MS = 86_400_000;

/**
 * The job that settles a payment; or the answer that the question had before, in which case nothing is settled for it.
 */
export type Holding = { jobId: string } | { answer: UnmadeSettlement };

/**
 * Records which job settles which payment. A record is written before its job, by the first asker: so a payment is in
 * one job at a time, whichever process and relayer is asked, and that job's end decides about the payment. A negative
 * answer to a question is kept beside the record: after it the payer may sign anew, so a copy of the question that is
 * handled late must not start anything.
 */
export class SettlementRecords {
  constructor(private readonly redis: RedisClient) {}

  /** The job that a payment was last put into; null when there is none, or it was released. */
  find(name: string): Promise<string | null> {
    return this.redis.get(keyOf(name));
  }

  /** For each payment the job that settles it: this one, or the one recorded first. One round trip for all on one server. */
  async claim(records: readonly SettlementRecord[], jobId: string): Promise<Holding[]> {
    // A pipeline to a cluster may have the keys of one slot only.
    if (!this.redis.isCluster) return this.#claim(records, jobId);
    return (await Promise.all(records.map((record) => this.#claim([record], jobId)))).flat();
  }

  async #claim(records: readonly SettlementRecord[], jobId: string): Promise<Holding[]> {
    const pipeline = this.redis.pipeline();
    for (const record of records) {
      pipeline.set(keyOf(record.name), jobId, 'PX', record.keptMs, 'NX', 'GET');
      // Read after the record is set: from then on, nothing else answers this question with a failure.
      pipeline.get(answerKeyOf(record));
    }
    const replies = (await pipeline.exec()) ?? [];
    return Promise.all(
      records.map(async (record, index) => {
        const [holder, answer] = [readReply(replies[2 * index]), readReply(replies[2 * index + 1])];
        if (answer === null) return { jobId: holder ?? jobId };
        if (holder === null) await this.release(record, jobId);
        return { answer: JSON.parse(answer) as UnmadeSettlement };
      }),
    );
  }

  /**
   * Records another job once the first has ended without settling the payment; false when another asker was first, or
   * the question was answered.
   */
  async replace(record: SettlementRecord, endedJobId: string, jobId: string): Promise<boolean> {
    const keys = [keyOf(record.name), answerKeyOf(record)];
    return (await REPLACE.run(this.redis, keys, [endedJobId, jobId, record.keptMs])) === 1;
  }

  /** Forgets this job as the one that settles the payment; call when it will not. */
  async release({ name }: Pick<SettlementRecord, 'name'>, jobId: string): Promise<void> {
    await RELEASE.run(this.redis, keyOf(name), [jobId]);
  }

  /**
   * Keeps the negative answer to a question for the question's copies; `keptMs` must be longer than any copy lives.
   * Returns null when the answer may be sent, otherwise the job that settles the payment by now. `endedJobId` is null
   * when no job was started.
   */
  async keepAnswer(
    record: SettlementRecord,
    endedJobId: string | null,
    answer: UnmadeSettlement,
  ): Promise<string | null> {
    const keys = [keyOf(record.name), answerKeyOf(record)];
    const holder = await ANSWER.run(this.redis, keys, [endedJobId ?? '', JSON.stringify(answer), record.keptMs]);
    return typeof holder === 'string' ? holder : null;
  }
}

function readReply(reply: [Error | null, unknown] | undefined): string | null {
  const [error, value] = reply ?? [new Error('Redis left a reply out of the pipeline'), null];
  if (error) throw error;
  return typeof value === 'string' ? value : null;
}

/** A Redis Cluster slot for each payment. */
function keyOf(name: string): string {
  return `tollgate:{settlement-${name}}`;
}

function answerKeyOf({ name, questionId }: Pick<SettlementRecord, 'name' | 'questionId'>): string {
  return `${keyOf(name)}:answer:${questionId}`;
}
