import {
  FINAL_STATES,
  IDEMPOTENT_REPLAYED,
  type AgentJob,
  type AgentJobPage,
  type AgentJobView,
  type AgentOperation,
  type AgentPlanView,
  type JobState,
} from '@tollgate/protocol';

import { sleep } from '../network/sleep.js';
import { createRandomHex } from '../sign/hex.js';
import { followEvents, type EventOptions, type FollowedEvent } from './follow-events.js';
import { GatewayConnection, type GatewayOptions, type GatewayRequest } from './gateway-connection.js';
import { WebhooksClient } from './webhooks-client.js';

/** An accepted job. */
export interface SubmittedJob {
  job: AgentJobView;
  /** The idempotency key it was submitted under: submitting the same job with this key again returns this job. */
  idempotencyKey: string;
  /** True when an earlier submission with this key created the job. */
  isReplay: boolean;
}

export interface SubmitOptions {
  /** 1 to 255 visible ASCII characters, unique among the jobs of the API key. If omitted: a random one. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface ListOptions {
  states?: readonly JobState[];
  operation?: AgentOperation;
  wallet?: string;
  /** The number of jobs per request to the gateway, 1 to 200. */
  pageSize?: number;
  signal?: AbortSignal;
}

export interface WaitOptions {
  /** Default 1 second. */
  pollMs?: number;
  /** Rejects with its reason when it is aborted: `AbortSignal.timeout(60_000)`. */
  signal?: AbortSignal;
}

const FINAL: readonly JobState[] = FINAL_STATES;

/**
 * Agent jobs over HTTP. A request that gets no answer, or one that asks to retry later, is repeated under the same
 * idempotency key. All methods throw AgentJobsError if the gateway refuses or does not answer.
 */
export class JobsClient {
  readonly #connection: GatewayConnection;
  readonly webhooks: WebhooksClient;

  constructor(options: GatewayOptions) {
    this.#connection = new GatewayConnection(options);
    this.webhooks = new WebhooksClient(this.#connection);
  }

  /** Resolves when the job is accepted, which is long before it has any effect: see `waitFor` and `events`. */
  submit(job: AgentJob, options: SubmitOptions = {}): Promise<SubmittedJob> {
    return this.#submit({ path: '/agent/jobs', body: job }, options);
  }

  /** A dry run: what the job would do. Nothing is stored or sent. */
  async dryRun(job: AgentJob, signal?: AbortSignal): Promise<AgentPlanView> {
    const request = { method: 'POST', path: '/agent/jobs', query: { dryRun: 'true' }, body: job, signal } as const;
    return (await this.#connection.send(request)).body as AgentPlanView;
  }

  get(jobId: string, signal?: AbortSignal): Promise<AgentJobView> {
    return this.#job({ method: 'GET', path: pathOf(jobId), signal });
  }

  /** The API key's own jobs, newest first, or those of all keys for an operator; without those whose records cannot be read. Pages are fetched as needed. */
  async *list(options: ListOptions = {}): AsyncGenerator<AgentJobView, void, undefined> {
    const { states, operation, wallet, pageSize, signal } = options;
    const query = { state: states?.join(','), operation, wallet, limit: pageSize?.toString() };
    for (let cursor: string | undefined; ;) {
      const request = { method: 'GET', path: '/agent/jobs', query: { ...query, cursor }, signal } as const;
      const page = (await this.#connection.send(request)).body as AgentJobPage;
      yield* page.jobs;
      if (page.cursor === null) return;
      cursor = page.cursor;
    }
  }

  /**
   * Returns the job after the cancellation. If a transaction is in flight, the chain decides whether the job can still
   * be cancelled.
   */
  cancel(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/cancel` });
  }

  /**
   * Approves the plan's bounds, identified by the `job.plan.floorsHash` that was reviewed. A key cannot approve its own
   * jobs.
   */
  approve(jobId: string, floorsHash: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/approve`, body: { floorsHash } });
  }

  reject(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/reject` });
  }

  /** Submits a failed job again as a new job, which refers to the old one. */
  retry(jobId: string, options: SubmitOptions = {}): Promise<SubmittedJob> {
    return this.#submit({ path: `${pathOf(jobId)}/retry` }, options);
  }

  /** For operators: has the transaction of a job replaced by one with higher fees. */
  speedUp(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/speed-up` });
  }

  /** For operators: resumes a job that waits for an operator. */
  resume(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/resume` });
  }

  /** For operators: abandons a job that waits for an operator. */
  abandon(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/abandon` });
  }

  /** Waits until the job has ended, in any state; a job that waits for an operator has not ended. */
  async waitFor(jobId: string, { pollMs = 1_000, signal }: WaitOptions = {}): Promise<AgentJobView> {
    for (;;) {
      const job = await this.get(jobId, signal);
      if (FINAL.includes(job.state)) return job;
      await sleep(pollMs, signal ?? null);
    }
  }

  /** Events of jobs, as they happen. */
  events(options: EventOptions = {}): AsyncGenerator<FollowedEvent, void, undefined> {
    return followEvents(this.#connection, options);
  }

  async #job(request: GatewayRequest): Promise<AgentJobView> {
    return (await this.#connection.send(request)).body as AgentJobView;
  }

  async #submit(request: Pick<GatewayRequest, 'path' | 'body'>, options: SubmitOptions): Promise<SubmittedJob> {
    const { idempotencyKey = createRandomHex(16), signal } = options;
    const { response, body } = await this.#connection.send({ ...request, method: 'POST', idempotencyKey, signal });
    return {
      job: body as AgentJobView,
      idempotencyKey,
      isReplay: response.headers.get(IDEMPOTENT_REPLAYED) === 'true',
    };
  }
}

/** @throws PaymentError `insecure_url` for plain HTTP to another machine; TypeError for an invalid URL or API key */
export function createJobsClient(options: GatewayOptions): JobsClient {
  return new JobsClient(options);
}

function pathOf(jobId: string): string {
  return `/agent/jobs/${encodeURIComponent(jobId)}`;
}
