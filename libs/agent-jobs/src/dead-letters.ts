import type { AgentJobEvent } from '@tollgate/protocol';
import type { Job, Queue } from 'bullmq';

import type { WebhookDelivery } from './webhook-delivery.js';

/** An event that a target did not take, however often it was tried. */
export interface DeadLetter {
  id: string;
  keyId: string;
  targetId: string;
  event: AgentJobEvent;
  attempts: number;
  /** Of the last attempt. */
  failedAtMs: number;
  /** What came of the last attempt. */
  reason: string;
}

const PAGE = 100;

/** The deliveries that were given up. They stay listed, the newest of them, until they are sent again. */
export class DeadLetters {
  constructor(private readonly queue: Queue<WebhookDelivery>) {}

  /** Newest first; of one API key's targets, or of all. */
  async list({ keyId, limit = 50 }: { keyId?: string | undefined; limit?: number } = {}): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = [];
    for await (const job of this.#failed(keyId)) {
      letters.push(toDeadLetter(job));
      if (letters.length >= limit) break;
    }
    return letters;
  }

  count(): Promise<number> {
    return this.queue.getFailedCount();
  }

  /** Tries it again from the beginning, all attempts. False: there is no such dead letter (of this key). */
  async resend(id: string, { keyId }: { keyId?: string | undefined } = {}): Promise<boolean> {
    const job = await this.queue.getJob(id);
    if (!job || (keyId !== undefined && job.data.keyId !== keyId)) return false;
    return retry(job);
  }

  /** Tries all of them again that there are now; answers how many. */
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
      // One that went between listing and reading is null, whatever the type says.
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
    // Somebody else was faster.
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
}: Job<WebhookDelivery>): DeadLetter {
  const { keyId, targetId, event } = data;
  return {
    ...{ id: id ?? '', keyId, targetId, event },
    attempts: attemptsMade,
    failedAtMs: finishedOn ?? timestamp,
    reason: failedReason ?? '',
  };
}
