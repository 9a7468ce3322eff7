import type { WebhookDelivery } from '@tollgate/common';
import type { AgentJobEvent } from '@tollgate/protocol';
import type { Job, Queue } from 'bullmq';

import { isDeliveryTo } from './waiting-deliveries.js';

/** An event that could not be delivered to a target with any attempt. */
export interface FailedDelivery {
  id: string;
  keyId: string;
  targetId: string;
  event: AgentJobEvent;
  attempts: number;
  /** The time of the last attempt. */
  failedAtMs: number;
  /** The error of the last attempt. */
  reason: string;
}

const PAGE = 100;
const IDS_AT_ONCE = 1_000;

/** The deliveries that failed for good. The newest of them stay listed until they are sent again. */
export class DeadLetters {
  constructor(private readonly queue: Queue<WebhookDelivery>) {}

  /** Newest first; for the targets of one API key, or all. */
  async list({ keyId, limit = 50 }: { keyId?: string | undefined; limit?: number } = {}): Promise<FailedDelivery[]> {
    const letters: FailedDelivery[] = [];
    for await (const job of this.#failed(keyId)) {
      letters.push(toDeadLetter(job));
      if (letters.length >= limit) break;
    }
    return letters;
  }

  /** Newest first. Of the deliveries to other targets, which may be many, only the ids are read. */
  async listOfTargets(targetIds: readonly string[], { limit }: { limit: number }): Promise<FailedDelivery[]> {
    const letters: FailedDelivery[] = [];
    for (let start = 0; targetIds.length > 0; start += IDS_AT_ONCE) {
      const page = await this.queue.getRanges(['failed'], start, start + IDS_AT_ONCE - 1);
      for (const id of page.filter((one) => targetIds.some((targetId) => isDeliveryTo(targetId, one)))) {
        const job = await this.queue.getJob(id);
        if (job) letters.push(toDeadLetter(job));
        if (letters.length >= limit) return letters;
      }
      if (page.length < IDS_AT_ONCE) break;
    }
    return letters;
  }

  count(): Promise<number> {
    return this.queue.getFailedCount();
  }

  /** Starts the delivery again, with all attempts. False: there is no such dead letter (for this key). */
  async resend(id: string, { keyId }: { keyId?: string | undefined } = {}): Promise<boolean> {
    const job = await this.queue.getJob(id);
    if (!job || (keyId !== undefined && job.data.keyId !== keyId)) return false;
    return retry(job);
  }

  /** Starts all current dead letters again; returns their number. */
  async resendAll({ keyId }: { keyId?: string | undefined } = {}): Promise<number> {
    const jobs: Job<WebhookDelivery>[] = [];
    for await (const job of this.#failed(keyId)) jobs.push(job);
    let resent = 0;
    for (const job of jobs) if (await retry(job)) resent++;
    return resent;
  }

  async *#failed(keyId: string | undefined): AsyncGenerator<Job<WebhookDelivery>> {
    for (let start = 0; ; start += PAGE) {
      const page = await this.queue.getFailed(start, start + PAGE - 1);
      // A job that was removed between listing and reading is null, despite its type.
      for (const job of page as (Job<WebhookDelivery> | null | undefined)[]) {
        if (job && (keyId === undefined || job.data.keyId === keyId)) yield job;
      }
      if (page.length < PAGE) return;
    }
  }
}

async function retry(job: Job<WebhookDelivery>): Promise<boolean> {
  try {
    await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
    return true;
  } catch (error) {
    // Another process was faster.
    if (!(await job.isFailed())) return false;
    throw error;
  }
}

function toDeadLetter({
  id,
  data,
  attemptsMade,
  finishedOn,
  timestamp,
  failedReason,
}: Job<WebhookDelivery>): FailedDelivery {
  const { keyId, targetId, event } = data;
  return {
    ...{ id: id ?? '', keyId, targetId, event },
    attempts: attemptsMade,
    failedAtMs: finishedOn ?? timestamp,
    reason: failedReason ?? '',
  };
}
