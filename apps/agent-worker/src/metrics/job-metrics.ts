import { Inject, Injectable } from '@nestjs/common';
import { Journal, UnreadableJobError, type JobEvent } from '@tollgate/journal';
import { Counter, Histogram, Registry } from 'prom-client';

import { LaneTroubles } from '../connections/lane-troubles.js';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600];
/** How many jobs per batch of events are read for their times: under load a sample is enough. */
const JOBS_TIMED = 20;
/** How many transactions in flight have their send time remembered. */
const MAX_SENT = 10_000;

/**
 * Counts the outcomes of jobs where their wallet's lane runs. It is an event consumer like any other, so each outcome
 * is counted at least once over all processes. Labels contain names of wallets, operations and states only.
 */
@Injectable()
export class JobMetrics {
  readonly name = 'metrics';
  readonly #ended: Counter<'wallet' | 'operation' | 'state'>;
  readonly #parked: Counter<'wallet' | 'operation'>;
  readonly #sentSeconds: Histogram<'operation'>;
  readonly #minedSeconds: Histogram;
  readonly #finalSeconds: Histogram<'operation'>;
  readonly #wakeUps: Counter<'wallet'>;
  readonly #messages: Counter<'outcome'>;
  readonly #sentAtMs = new Map<string, number>();

  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(Journal) private readonly journal: Pick<Journal, 'readEachJob'>,
    @Inject(LaneTroubles) private readonly troubles: Pick<LaneTroubles, 'report'>,
  ) {
    const registers = [registry];
    this.#ended = new Counter({
      name: 'tollgate_agent_jobs_ended_total',
      help: 'Jobs that ended, by their final state.',
      labelNames: ['wallet', 'operation', 'state'],
      registers,
    });
    this.#parked = new Counter({
      name: 'tollgate_agent_jobs_parked_total',
      help: 'How often a job began to wait for an operator.',
      labelNames: ['wallet', 'operation'],
      registers,
    });
    this.#sentSeconds = new Histogram({
      name: 'tollgate_agent_job_sent_seconds',
      help: "From a job's acceptance to the sending of its first transaction; for ended jobs, under load a sample.",
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    });
    this.#minedSeconds = new Histogram({
      name: 'tollgate_agent_transaction_mined_seconds',
      help: 'From the sending of a transaction until it is mined as deep as CONFIRMATIONS requires.',
      buckets: SECONDS,
      registers,
    });
    this.#finalSeconds = new Histogram({
      name: 'tollgate_agent_job_final_seconds',
      help: "From a job's acceptance to its end, waits for approval included; under load a sample.",
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    });
    this.#wakeUps = new Counter({
      name: 'tollgate_agent_wake_ups_total',
      help: 'Wake-ups taken from the queue of a wallet.',
      labelNames: ['wallet'],
      registers,
    });
    this.#messages = new Counter({
      name: 'tollgate_agent_messages_total',
      help: 'Jobs that other services put directly into the queue, by an outcome or the code of a refusal.',
      labelNames: ['outcome'],
      registers,
    });
  }

  wokenUp(wallet: string): void {
    this.#wakeUps.inc({ wallet });
  }

  /** @param outcome or the code of a refusal */
  messageDecided(outcome: string): void {
    this.#messages.inc({ outcome });
  }

  async take(events: readonly JobEvent[], wallet: string): Promise<void> {
    const endedIds = events.filter(isEnd).map(({ jobId }) => jobId);
    // Read before anything is counted: if this fails, the events are delivered again.
    const ended = await this.journal.readEachJob(endedIds.slice(0, JOBS_TIMED));
    for (const event of events) this.#count(event, wallet);
    for (const job of ended) {
      if (job instanceof UnreadableJobError) {
        this.troubles.report(wallet, job);
        continue;
      }
      if (!job || job.endedAtMs === null) continue;
      const { operation, submittedAtMs } = job;
      this.#finalSeconds.observe({ operation }, (job.endedAtMs - submittedAtMs) / 1000);
      const sentAtMs = job.steps[0]?.attempts[0]?.sentAtMs ?? null;
      if (sentAtMs !== null) this.#sentSeconds.observe({ operation }, (sentAtMs - submittedAtMs) / 1000);
    }
  }

  #count(event: JobEvent, wallet: string): void {
    const { type, jobId, state, operation, atMs } = event;
    switch (type) {
      case 'transactionSubmitted':
        // For waiting times, a replacement is the same transaction.
        if (!this.#sentAtMs.has(jobId) && this.#sentAtMs.size < MAX_SENT) this.#sentAtMs.set(jobId, atMs);
        return;
      case 'transactionConfirmed':
        this.#observeMined(event);
        return;
      case 'jobNeedsOperator':
        // Waiting for an approval is not counted as a problem.
        if (state === 'NEEDS_OPERATOR') this.#parked.inc({ wallet, operation });
        return;
      case 'jobCompleted':
      case 'transactionFailed':
        this.#ended.inc({ wallet, operation, state });
        this.#sentAtMs.delete(jobId);
        return;
      case 'transactionWaiting':
        // The jobs that wait now are counted by observe-lanes.ts.
        return;
    }
  }

  #observeMined({ jobId, atMs }: JobEvent): void {
    const sentAtMs = this.#sentAtMs.get(jobId);
    this.#sentAtMs.delete(jobId);
    // Unknown if another process saw it being sent.
    if (sentAtMs !== undefined) this.#minedSeconds.observe((atMs - sentAtMs) / 1000);
  }
}

function isEnd({ type }: JobEvent): boolean {
  return type === 'jobCompleted' || type === 'transactionFailed';
}
