import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  AGENT_JOBS_QUEUE,
  checkTokens,
  fingerprintOfJob,
  problemOfSubmit,
  serveQueue,
  verifyAgentJobMessage,
  WalletDirectory,
  type MessageRefusalCode,
  type VerifiedMessage,
} from '@tollgate/agent-jobs';
import { ApiKeyStore } from '@tollgate/http';
import { acceptJob, Journal, type JobQueue } from '@tollgate/journal';
import { closeWithin } from '@tollgate/redis';
import { type QueueJobs } from '@tollgate/transport';
import { DelayedError, UnrecoverableError, type Job, type Worker } from 'bullmq';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { WorkerConnections } from '../connections/worker-connections.js';
import { JobMetrics } from '../metrics/job-metrics.js';

/** The BullMQ result that the sending service can read. */
type AcceptedMessage = QueueJobs[typeof AGENT_JOBS_QUEUE]['result'];

interface MessageParts {
  journal: Journal;
  directory: WalletDirectory;
  apiKeys: ApiKeyStore;
  /** Wakes the process that holds the job's lane. */
  queue: JobQueue;
  agentSecret: string;
  maxAgeMs: number;
}

/** Why a job of another service is not carried out. Trying again does not help. */
type RefusalCode = MessageRefusalCode | 'wallet_unknown' | 'idempotency_conflict' | 'idempotency_key_used';

/** `postponed`: the message cannot be judged now, or the lane takes no job; try again later. */
type MessageDecision =
  | { outcome: 'accepted' | 'known'; jobId: string }
  | { outcome: 'postponed'; why: string }
  | { outcome: 'refused'; code: RefusalCode; detail: string; keyId: string | null };

const LOCK_MS = 10_000;
const DAY_SECONDS = 86_400;
// BullMQ waits for the next delayed job in one blocking call, which must be shorter than the idle timeout of our
// connections.
const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [500, 8_000];
const KEY_CODES = { conflict: 'idempotency_conflict', forgotten: 'idempotency_key_used' } as const;

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

/**
 * Authenticates a message by its signature and its key, and writes its job into the journal before anything else is
 * done for it.
 */
async function journalMessage(message: unknown, parts: MessageParts): Promise<MessageDecision> {
  try {
    const { apiKeys, agentSecret, maxAgeMs } = parts;
    const verdict = await verifyAgentJobMessage(message, { apiKeys, agentSecret, maxAgeMs, nowMs: Date.now() });
    return verdict.outcome === 'refused' ? verdict : await submit(verdict, parts);
  } catch (error) {
    return { outcome: 'postponed', why: error instanceof Error ? error.message : String(error) };
  }
}

async function submit(
  { request, idempotencyKey, keyId }: VerifiedMessage,
  { journal, queue, directory }: MessageParts,
): Promise<MessageDecision> {
  const { operation, wallet, input } = request;
  const entry = await directory.find(wallet);
  if (!entry) return { outcome: 'refused', code: 'wallet_unknown', detail: 'There is no such wallet.', keyId };
  const problems = await checkTokens({ directory, journal }, { request, keyId, idempotencyKey });
  if (problems.length > 0) return { outcome: 'refused', code: 'request_invalid', detail: problems.join('; '), keyId };
  const result = await acceptJob(
    { journal, queue },
    // A parsed input is plain JSON.
    {
      lane: entry.lane,
      wallet,
      operation,
      keyId,
      idempotencyKey,
      input: input as never,
      fingerprint: fingerprintOfJob(request),
    },
  );
  switch (result.outcome) {
    case 'accepted':
    case 'known':
      return { outcome: result.outcome, jobId: result.jobId };
    case 'conflict':
    case 'forgotten': {
      const { detail } = problemOfSubmit(result.outcome, wallet);
      return { outcome: 'refused', code: KEY_CODES[result.outcome], detail, keyId };
    }
    case 'refused':
      return { outcome: 'postponed', why: problemOfSubmit(result.reason, wallet).detail };
  }
}
