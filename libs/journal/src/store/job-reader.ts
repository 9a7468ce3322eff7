import type { AcknowledgedCommands } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import type { JobRecord, LaneId } from '../jobs/job.js';
import { jobKey } from '../jobs/keys.js';
import { parseJob } from '../jobs/parse-job.js';

interface Waiting {
  jobId: string;
  resolve: (job: JobRecord | null) => void;
  reject: (error: unknown) => void;
}

/** Reads jobs. Reads of one lane within one turn of the event loop share one request. */
export class JobReader {
  readonly #waiting = new Map<LaneId, Waiting[]>();

  /** `acknowledged`: a worker broadcasts what it reads, which the replicas must therefore have. */
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly acknowledged?: AcknowledgedCommands,
  ) {}

  /** `lane`: the same object for the same lane, as the registry returns it. Null when the job does not exist. */
  read(lane: LaneId, jobId: string): Promise<JobRecord | null> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(lane) ?? [];
      if (waiting.length === 0) setImmediate(() => void this.#flush(lane));
      waiting.push({ jobId, resolve, reject });
      this.#waiting.set(lane, waiting);
    });
  }

  async #readAcknowledged(lane: LaneId, { jobId, resolve, reject }: Waiting): Promise<void> {
    const key = jobKey(lane, jobId);
    try {
      const fields = await this.acknowledged?.run(key, ['hgetall', key]);
      resolve(parseJob(lane, jobId, fields as Record<string, string>));
    } catch (error) {
      reject(error);
    }
  }

  async #flush(lane: LaneId): Promise<void> {
    const batch = this.#waiting.get(lane) ?? [];
    this.#waiting.delete(lane);
    if (this.acknowledged) return void batch.forEach((one) => void this.#readAcknowledged(lane, one));
    const pipeline = this.redis.pipeline(batch.map(({ jobId }) => ['hgetall', jobKey(lane, jobId)]));
    const replies = await pipeline.exec().catch((error: unknown) => batch.map(() => [error, null] as const));
    for (const [index, { jobId, resolve, reject }] of batch.entries()) {
      const [error, fields] = replies?.[index] ?? [new Error('Redis left out an answer'), null];
      try {
        if (error) reject(error);
        else resolve(parseJob(lane, jobId, fields as Record<string, string>));
      } catch (unreadable) {
        reject(unreadable);
      }
    }
  }
}
