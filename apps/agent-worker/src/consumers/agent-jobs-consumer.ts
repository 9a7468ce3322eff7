import { Logger } from '@nestjs/common';
import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX } from '@tollgate/agent-jobs';
import { DelayedError, UnrecoverableError, Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';

import { closeWithin } from './close-within.js';
import { journalMessage, type MessageDecision, type MessageParts } from './journal-message.js';

export interface AgentJobsConsumerOptions extends MessageParts {
  /** Of the queues' Redis, for blocking use. */
  connection: Redis;
  /** For metrics. */
  onDecision: (decision: MessageDecision) => void;
}

/** What the service that put the message into the queue can read there as its result. */
interface AcceptedMessage {
  jobId: string;
  outcome: 'accepted' | 'known';
}

const LOCK_MS = 10_000;
const DAY_SECONDS = 86_400;
// BullMQ waits for the next delayed job in one blocking call, which must be shorter than our connections' silence.
const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [500, 8_000];

/**
 * Takes the jobs that other services put into the queue themselves. Once journaled, the queue may lose them. What is
 * refused stays in the queue's list of failed jobs, with the reason; what cannot be judged now comes again.
 */
export class AgentJobsConsumer {
  readonly #logger = new Logger('AgentJobs');
  #worker: Worker<unknown, AcceptedMessage> | null = null;

  constructor(private readonly options: AgentJobsConsumerOptions) {}

  start(): void {
    this.#worker = new Worker<unknown, AcceptedMessage>(AGENT_JOBS_QUEUE, (job, token) => this.#take(job, token), {
      connection: this.options.connection,
      prefix: AGENT_QUEUE_PREFIX,
      concurrency: 16,
      // A message whose worker was killed is taken again soon, however often that happens: taking it twice does no harm.
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: 1_000_000,
      runRetryDelay: 1000,
      removeOnComplete: { age: DAY_SECONDS, count: 1000 },
      removeOnFail: { age: 7 * DAY_SECONDS, count: 10_000 },
    });
    // Connections report their own state.
    this.#worker.on('error', (error) => this.#logger.debug(`the queue of agent jobs: ${error.message}`));
  }

  /** Takes nothing more; what was taken ends, unless that takes longer. */
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

  /** Not by BullMQ's attempts: their number is the sender's, and once they are used up the message would be lost. */
  async #postpone(job: Job, token: string | undefined, why: string): Promise<never> {
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(job.attemptsStarted - 1, 10));
    this.#logger.debug({ msg: 'a job of another service is postponed', why, delayMs });
    await job.moveToDelayed(Date.now() + delayMs, token);
    throw new DelayedError();
  }
}
