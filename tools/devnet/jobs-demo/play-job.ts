import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentJob, JobsClient } from '@tollgate/client/jobs';
import { FINAL_STATES, type AgentJobEvent, type AgentJobView } from '@tollgate/protocol';
import type { Hex } from 'viem';

import type { Tracer, TransactionTrace } from '../chain/trace-transaction.js';
import { showAnswer, showEvent, showTraces } from '../demo/show-job.js';
import type { EventFollower } from '../stack/follow-events.js';
import type { DemoJob, DemoPlace } from './list-jobs.js';

export interface DemoStage {
  jobs: JobsClient;
  place: DemoPlace;
  follower: EventFollower;
  trace: Tracer;
}

/** A job that has ended, with its events and transactions. */
export interface PlayedJob {
  job: DemoJob;
  view: AgentJobView;
  events: AgentJobEvent[];
  traces: TransactionTrace[];
  tookMs: number;
}

export interface SubmittedJob {
  job: DemoJob;
  id: string;
  atMs: number;
}

const ENDS_WITHIN_MS = 60_000;

/** Submits a job and shows it up to the event that reports its end. Throws if it does not end as expected. */
export async function playJob(stage: DemoStage, job: DemoJob): Promise<PlayedJob> {
  return finishJob(stage, await submitJob(stage, job));
}

export async function submitJob({ jobs, place }: DemoStage, job: DemoJob): Promise<SubmittedJob> {
  const request = { operation: job.operation, wallet: place.wallet.name, input: await job.input(place) };
  const atMs = Date.now();
  const { id } = (await jobs.submit(request as AgentJob)).job;
  console.log(`  > POST /agent/jobs  ${JSON.stringify(request)}`);
  console.log(`  < accepted as ${id}\n`);
  return { job, id, atMs };
}

/** Shows the job's events as they come, its end, and what its transactions did. */
export async function finishJob(stage: DemoStage, submitted: SubmittedJob): Promise<PlayedJob> {
  const { job, id, atMs } = submitted;
  const events = await showUntilEnd(stage.follower, submitted);
  const tookMs = Date.now() - atMs;
  const view = await stage.jobs.get(id);
  const hashes = view.steps.flatMap(({ mined }) => (mined ? [mined.txHash as Hex] : []));
  const traces: TransactionTrace[] = [];
  for (const hash of hashes) traces.push(await stage.trace(hash));
  showTraces(traces);
  showAnswer(view);
  assertEnd(job, view, events);
  return { job, view, events, traces, tookMs };
}

async function showUntilEnd({ events }: EventFollower, { id, atMs }: SubmittedJob): Promise<AgentJobEvent[]> {
  const shown = new Map<string, AgentJobEvent>();
  while (Date.now() - atMs < ENDS_WITHIN_MS) {
    for (const event of events.filter(({ jobId }) => jobId === id)) {
      // At least once: a repeat has the same id.
      if (shown.has(event.id)) continue;
      shown.set(event.id, event);
      showEvent(event, Date.now() - atMs);
      if (isEnd(event)) return [...shown.values()];
    }
    await sleep(10);
  }
  throw new Error(`job ${id} was not reported to have ended within a minute`);
}

function isEnd({ id, type }: AgentJobEvent): boolean {
  const state = id.split(':')[1] ?? '';
  return type === 'jobNeedsOperator' || (FINAL_STATES as readonly string[]).includes(state);
}

function assertEnd({ fails }: DemoJob, view: AgentJobView, events: readonly AgentJobEvent[]): void {
  const last = events.at(-1);
  const [state, type] = fails ? [fails.state, 'transactionFailed'] : ['FINAL', 'jobCompleted'];
  if (view.state !== state || last?.type !== type || last.error?.code !== fails?.code) {
    throw new Error(`the job should have ended as ${state}: ${JSON.stringify(view, null, 2)}`);
  }
}
