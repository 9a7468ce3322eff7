import type { SettlementResult } from '@tollgate/common';
import { LuaScript, type RedisClient } from '@tollgate/redis';

import keepAnswer from './scripts/keep-answer.lua';
import releaseRecord from './scripts/release-record.lua';
import replaceRecord from './scripts/replace-record.lua';

const REPLACE = new LuaScript(replaceRecord);
const RELEASE = new LuaScript(releaseRecord);
const ANSWER = new LuaScript(keepAnswer);

/** The longest time a record is kept before its payment expires, since a payment may be valid for ever. */
export const LONGEST_VALIDITY_MS = 86_400_000;

/** The answer about a settlement that did not happen. After either outcome the payer may sign anew. */
export type UnmadeSettlement = Extract<SettlementResult, { outcome: 'failed' | 'unavailable' }>;

export interface SettlementRecord {
  /** From `nameSettlement`. */
  name: string;
  /** The question that asks for it. */
  questionId: string;
  /** How long the payment may still be asked for. */
  keptMs: number;
}

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
