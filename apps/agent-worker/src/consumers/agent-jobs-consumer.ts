import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { AGENT_JOBS_QUEUE, serveQueue, WalletDirectory } from '@tollgate/agent-jobs';
import { ApiKeyStore, type QueueJobs } from '@tollgate/common';
import { Journal } from '@tollgate/journal';
import { closeWithin } from '@tollgate/redis';
import { DelayedError, UnrecoverableError, type Job, type Worker } from 'bullmq';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { WorkerConnections } from '../connections/worker-connections.js';
import { JobMetrics } from '../metrics/job-metrics.js';
import { journalMessage, type MessageParts } from './journal-message.js';

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
@Injectable()
export class AgentJobsConsumer implements OnModuleDestroy {
  readonly #logger = new Logger('AgentJobs');
  #worker: Worker<unknown, AcceptedMessage> | null = null;

  readonly #parts: MessageParts;

  constructor(
    @Inject(AgentWorkerEnvironment) private readonly environment: AgentWorkerEnvironment,
    @Inject(WorkerConnections) private readonly connections: WorkerConnections,
    @Inject(JobMetrics) private readonly metrics: JobMetrics,
    @Inject(Journal) journal: Journal,
    @Inject(WalletDirectory) directory: WalletDirectory,
    @Inject(ApiKeyStore) apiKeys: ApiKeyStore,
  ) {
    const { agent, messages } = environment;
    const maxAgeMs = messages.messageMaxAgeSeconds * 1000;
    const queue = connections.wakeQueues;
    this.#parts = { journal, directory, apiKeys, queue, agentSecret: agent.agentSecret, maxAgeMs };
  }

  start(): void {
    this.#worker = serveQueue(AGENT_JOBS_QUEUE, (job, token) => this.#take(job, token), {
      connection: this.connections.consumerRedis,
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
  async onModuleDestroy(): Promise<void> {
    if (this.#worker) await closeWithin(this.environment.smallStopMs, this.#worker);
  }

  async #take(job: Job, token: string | undefined): Promise<AcceptedMessage> {
    const decision = await journalMessage(job.data, this.#parts);
    this.metrics.messageDecided(decision.outcome === 'refused' ? decision.code : decision.outcome);
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
