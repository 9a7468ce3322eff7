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

import { sleep } from '../sleep.js';
import { followEvents, type EventOptions, type FollowedEvent } from './follow-events.js';
import { GatewayConnection, type GatewayOptions, type GatewayRequest } from './gateway-connection.js';
import { WebhooksClient } from './webhooks-client.js';

/** A job that was taken. */
export interface SubmittedJob {
  job: AgentJobView;
  /** The key it was submitted under: the same job with the same key is the same job. */
  idempotencyKey: string;
  /** An earlier submission with this key had made the job. */
  isReplay: boolean;
}

export interface SubmitOptions {
  /** 1 to 255 visible ASCII characters, unique among the jobs of the API key. Left out: a random one. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface ListOptions {
  states?: readonly JobState[];
  operation?: AgentOperation;
  wallet?: string;
  /** How many the gateway is asked for at once, 1 to 200. */
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
 * Agent jobs over HTTP. A request without an answer, and one that is asked to come back, is sent again under the same
 * idempotency key. All methods throw AgentJobsError where the gateway refuses or stays away.
 */
export class JobsClient {
  readonly #connection: GatewayConnection;
  readonly webhooks: WebhooksClient;

  constructor(options: GatewayOptions) {
    this.#connection = new GatewayConnection(options);
    this.webhooks = new WebhooksClient(this.#connection);
  }

  /** Resolves when the job is taken, which is long before it has done anything: see `waitFor` and `events`. */
  submit(job: AgentJob, options: SubmitOptions = {}): Promise<SubmittedJob> {
    return this.#submit({ path: '/agent/jobs', body: job }, options);
  }

  /** What the job would do; nothing is kept or sent. */
  async dryRun(job: AgentJob, signal?: AbortSignal): Promise<AgentPlanView> {
    const request = { method: 'POST', path: '/agent/jobs', query: { dryRun: 'true' }, body: job, signal } as const;
    return (await this.#connection.send(request)).body as AgentPlanView;
  }

  get(jobId: string, signal?: AbortSignal): Promise<AgentJobView> {
    return this.#job({ method: 'GET', path: pathOf(jobId), signal });
  }

  /** The key's own jobs, newest first, or those of all keys for an operator; pages are fetched as they are needed. */
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

  /** The job as it is afterwards: where a transaction is in flight, the chain decides whether it is still cancelled. */
  cancel(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/cancel` });
  }

  /** Agrees to the floors of the plan that was looked at: `job.plan.floorsHash`. Not for one's own jobs. */
  approve(jobId: string, floorsHash: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/approve`, body: { floorsHash } });
  }

  reject(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/reject` });
  }

  /** Submits again what a job asked that failed; the new job names the old one. */
  retry(jobId: string, options: SubmitOptions = {}): Promise<SubmittedJob> {
    return this.#submit({ path: `${pathOf(jobId)}/retry` }, options);
  }

  /** For operators: a job that needs one goes on where it was. */
  resume(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/resume` });
  }

  /** For operators: a job that needs one is given up. */
  abandon(jobId: string): Promise<AgentJobView> {
    return this.#job({ method: 'POST', path: `${pathOf(jobId)}/abandon` });
  }

  /** The job once it has ended, however; one that needs an operator is waited for until it had one. */
  async waitFor(jobId: string, { pollMs = 1_000, signal }: WaitOptions = {}): Promise<AgentJobView> {
    for (;;) {
      const job = await this.get(jobId, signal);
      if (FINAL.includes(job.state)) return job;
      await sleep(pollMs, signal ?? null);
    }
  }

  /** What jobs report, as it happens. */
  events(options: EventOptions = {}): AsyncGenerator<FollowedEvent, void, undefined> {
    return followEvents(this.#connection, options);
  }

  async #job(request: GatewayRequest): Promise<AgentJobView> {
    return (await this.#connection.send(request)).body as AgentJobView;
  }

  async #submit(request: Pick<GatewayRequest, 'path' | 'body'>, options: SubmitOptions): Promise<SubmittedJob> {
    const { idempotencyKey = createIdempotencyKey(), signal } = options;
    const { response, body } = await this.#connection.send({ ...request, method: 'POST', idempotencyKey, signal });
    return {
      job: body as AgentJobView,
      idempotencyKey,
      isReplay: response.headers.get(IDEMPOTENT_REPLAYED) === 'true',
    };
  }
}

/** @throws PaymentError `insecure_url` for plain HTTP to another machine; TypeError for what is no URL or no API key */
export function createJobsClient(options: GatewayOptions): JobsClient {
  return new JobsClient(options);
}

/** Not `crypto.randomUUID`, which pages have over HTTPS only. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function pathOf(jobId: string): string {
  return `/agent/jobs/${encodeURIComponent(jobId)}`;
}
