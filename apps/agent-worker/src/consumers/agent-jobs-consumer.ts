import { Logger } from '@nestjs/common';
import { AGENT_JOBS_QUEUE, serveQueue } from '@tollgate/agent-jobs';
import type { QueueJobs } from '@tollgate/common';
import { DelayedError, UnrecoverableError, type Job, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';

import { closeWithin } from './close-within.js';
import { journalMessage, type MessageDecision, type MessageParts } from './journal-message.js';

export interface AgentJobsConsumerOptions extends MessageParts {
  /** To the Redis of the queues, for blocking commands. */
  connection: Redis;
  /** For metrics. */
  onDecision: (decision: MessageDecision) => void;
}

/** The BullMQ result that the sending service can read. */
type AcceptedMessage = QueueJobs[typeof AGENT_JOBS_QUEUE]['result'];

const LOCK_MS = 10_000;
const DAY_SECONDS = 86_400;
// BullMQ waits for the next delayed job in one blocking call, which must be shorter than the idle timeout of our
// connections.
const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [500, 8_000];

/**
 * Takes the jobs that other services put directly into the queue, and journals them. Once journaled, a job no longer
 * depends on the queue. A refused message stays in the queue's list of failed jobs, with the reason; one that cannot be
 * judged now is postponed.
 */
export class AgentJobsConsumer {
  readonly #logger = new Logger('AgentJobs');
  #worker: Worker<unknown, AcceptedMessage> | null = null;

  constructor(private readonly options: AgentJobsConsumerOptions) {}

  start(): void {
    this.#worker = serveQueue(AGENT_JOBS_QUEUE, (job, token) => this.#take(job, token), {
      connection: this.options.connection,
      concurrency: 16,
      // A message whose worker was killed is taken again soon, however often that happens: taking it twice does no
      // harm.
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: 1_000_000,
      removeOnComplete: { age: DAY_SECONDS, count: 1000 },
      removeOnFail: { age: 7 * DAY_SECONDS, count: 10_000 },
    });
    // Connections report their own state.
    this.#worker.on('error', (error) => this.#logger.debug(`the queue of agent jobs: ${error.message}`));
  }

  /** Takes no more messages. Messages being handled are finished, within a time limit. */
  async close(withinMs: number): Promise<void> {
    if (this.#worker) await closeWithin(withinMs, this.#worker);
  }

  async #take(job: Job, token: string | undefined): Promise<AcceptedMessage> {
    const decision = await journalMessage(job.data, this.options);
    this.options.onDecision(decision);
    switch (decision.outcome) {
      case 'accepted':
      case 'known':
        return decision;
      case 'refused': {
        const { code, detail, keyId } = decision;
        this.#logger.warn({ msg: 'a job of another service is refused', code, keyId, detail });
        throw new UnrecoverableError(`${code}: ${detail}`);
      }
      case 'postponed':
        return this.#postpone(job, token, decision.why);
    }
  }

  /**
   * Delays instead of using BullMQ's attempts: the sender chooses their number, and once they are used up the message
   * would be lost.
   */
  async #postpone(job: Job, token: string | undefined, why: string): Promise<never> {
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(job.attemptsStarted - 1, 10));
    this.#logger.debug({ msg: 'a job of another service is postponed', why, delayMs });
    await job.moveToDelayed(Date.now() + delayMs, token);
    throw new DelayedError();
  }
}
