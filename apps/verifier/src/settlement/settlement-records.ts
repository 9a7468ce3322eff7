import { LuaScript } from '@tollgate/common';
import type { Redis } from 'ioredis';

/** KEYS[1] record, ARGV[1] the job it must name, ARGV[2] the job it names from now on ('': none), ARGV[3] ms it lives. */
const REPLACE = new LuaScript(/* lua */ `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
`);

/** What is remembered no longer: a payment may be valid for ever. */
const LONGEST_VALIDITY_MS = 86_400_000;

export interface SettlementRecord {
  /** As `nameSettlement` gives it. */
  name: string;
  /** Until then somebody may ask for it again. */
  keptMs: number;
}

/**
 * Which job settles which payment. A record is written before its job, by whoever asks first: so a payment is in one
 * job at a time, whichever process and relayer is asked, and its end decides about the payment.
 */
export class SettlementRecords {
  constructor(private readonly redis: Redis) {}

  /** The job that a payment was put into last; null: none, or it was given up. */
  find(name: string): Promise<string | null> {
    return this.redis.get(keyOf(name));
  }

  /** The job that settles each payment: this one, or the one that was written first. One round trip for all. */
  async claim(records: readonly SettlementRecord[], jobId: string): Promise<string[]> {
    const pipeline = this.redis.pipeline();
    for (const { name, keptMs } of records) pipeline.set(keyOf(name), jobId, 'PX', keptMs, 'NX', 'GET');
    const replies = (await pipeline.exec()) ?? [];
    return records.map((_, index) => {
      const [error, holder] = replies[index] ?? [new Error('Redis left an answer out'), null];
      if (error) throw error;
      return typeof holder === 'string' ? holder : jobId;
    });
  }

  /** Names another job once the first has ended without the payment; false: somebody else was first. */
  async replace({ name, keptMs }: SettlementRecord, endedJobId: string, jobId: string): Promise<boolean> {
    return (await REPLACE.run(this.redis, keyOf(name), [endedJobId, jobId, keptMs])) === 1;
  }

  /** Forgets that this job would settle the payment: it will not. */
  async release({ name }: Pick<SettlementRecord, 'name'>, jobId: string): Promise<void> {
    await REPLACE.run(this.redis, keyOf(name), [jobId, '', 0]);
  }
}

/** Each in a slot of its own. */
function keyOf(name: string): string {
  return `tollgate:{settlement-${name}}`;
}

/** @param validUntil the payment's own end, in seconds: it is remembered until then, and while it may be redeemed */
export function keptMsFor(validUntil: string, { nowMs, windowMs }: { nowMs: () => number; windowMs: number }): number {
  const validMs = Number(validUntil) * 1000 - nowMs();
  return Math.ceil(Math.min(Math.max(validMs, 0), LONGEST_VALIDITY_MS) + windowMs);
}
