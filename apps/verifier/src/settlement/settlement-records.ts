import { LuaScript, type SettlementResult } from '@tollgate/common';
import type { Redis } from 'ioredis';

/**
 * KEYS[1] record, KEYS[2] the answer to who asks, ARGV[1] the job it must name, ARGV[2] the job it names from now on,
 * ARGV[3] ms it lives. Nothing is begun for a question that was answered.
 */
const REPLACE = new LuaScript(/* lua */ `
if redis.call('EXISTS', KEYS[2]) == 1 or redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
`);

/** KEYS[1] record, ARGV[1] the job it must name. */
const RELEASE = new LuaScript(/* lua */ `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);

/**
 * KEYS[1] record, KEYS[2] the answer, ARGV[1] the job that has ended or '', ARGV[2] the answer's text, ARGV[3] ms it lives.
 * One step: between a look at the record and the answer a copy of the question could begin another job.
 */
const ANSWER = new LuaScript(/* lua */ `
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return false
`);

/** What is remembered no longer: a payment may be valid for ever. */
const LONGEST_VALIDITY_MS = 86_400_000;

/** What is told of a settlement that comes to nothing: after either the payer may sign anew. */
export type UnmadeSettlement = Extract<SettlementResult, { outcome: 'failed' | 'unavailable' }>;

export interface SettlementRecord {
  /** As `nameSettlement` gives it. */
  name: string;
  /** Who asks for it. */
  questionId: string;
  /** Until then somebody may ask for it again. */
  keptMs: number;
}

/** Who settles a payment; or what the question was answered before, and nothing is settled for it. */
export type Holding = { jobId: string } | { answer: UnmadeSettlement };

/**
 * Which job settles which payment. A record is written before its job, by whoever asks first: so a payment is in one
 * job at a time, whichever process and relayer is asked, and its end decides about the payment. What a question is told
 * that nothing comes of stands beside it: its payer may sign anew then, and a copy of it that is handled late must begin nothing.
 */
export class SettlementRecords {
  constructor(private readonly redis: Redis) {}

  /** The job that a payment was put into last; null: none, or it was given up. */
  find(name: string): Promise<string | null> {
    return this.redis.get(keyOf(name));
  }

  /** The job that settles each payment: this one, or the one that was written first. One round trip for all. */
  async claim(records: readonly SettlementRecord[], jobId: string): Promise<Holding[]> {
    const pipeline = this.redis.pipeline();
    for (const record of records) {
      pipeline.set(keyOf(record.name), jobId, 'PX', record.keptMs, 'NX', 'GET');
      // Not before: what is answered once the record names this job is not that it failed.
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

  /** Names another job once the first has ended without the payment; false: somebody else was first, or it was answered. */
  async replace(record: SettlementRecord, endedJobId: string, jobId: string): Promise<boolean> {
    const keys = [keyOf(record.name), answerKeyOf(record)];
    return (await REPLACE.run(this.redis, keys, [endedJobId, jobId, record.keptMs])) === 1;
  }

  /** Forgets that this job would settle the payment: it will not. */
  async release({ name }: Pick<SettlementRecord, 'name'>, jobId: string): Promise<void> {
    await RELEASE.run(this.redis, keyOf(name), [jobId]);
  }

  /**
   * Keeps what the question is about to be told, for its copies; `keptMs` is longer than any of them lives. Null: it may
   * be told. Else the job that settles the payment by now. `endedJobId`: null where nothing was begun for it.
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
  const [error, value] = reply ?? [new Error('Redis left an answer out'), null];
  if (error) throw error;
  return typeof value === 'string' ? value : null;
}

/** Each in a slot of its own. */
function keyOf(name: string): string {
  return `tollgate:{settlement-${name}}`;
}

function answerKeyOf({ name, questionId }: Pick<SettlementRecord, 'name' | 'questionId'>): string {
  return `${keyOf(name)}:answer:${questionId}`;
}

/** @param validUntil the payment's own end, in seconds: it is remembered until then, and while it may be redeemed */
export function keptMsFor(validUntil: string, { nowMs, windowMs }: { nowMs: () => number; windowMs: number }): number {
  const validMs = Number(validUntil) * 1000 - nowMs();
  return Math.ceil(Math.min(Math.max(validMs, 0), LONGEST_VALIDITY_MS) + windowMs);
}
