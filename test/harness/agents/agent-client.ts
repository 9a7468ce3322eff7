import { randomBytes } from 'node:crypto';

import { FINAL_STATES, type AgentJobRequest, type AgentJobView, type JobState } from '@tollgate/protocol';

export interface AgentClient {
  token: string;
  /** The response as it is, with any status. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Submits under a fresh idempotency key unless one is given; returns the job's id. Throws for any status but 202. */
  submit(request: AgentJobRequest, idempotencyKey?: string): Promise<string>;
  read(jobId: string): Promise<AgentJobView>;
  /** The job once it has this state; throws when it ends in another, or does not reach it within two minutes. */
  waitFor(jobId: string, ...states: JobState[]): Promise<AgentJobView>;
}

const GIVE_UP_MS = 120_000;

/** The job API of a gateway as plain requests with one API key. */
export function createAgentClient(baseUrl: string, token: string): AgentClient {
  const send: AgentClient['send'] = (method, path, body, headers = {}) =>
    fetch(new URL(path, baseUrl), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
  const readOk = async (response: Response, status: number): Promise<unknown> => {
    const text = await response.text();
    if (response.status !== status) throw new Error(`${response.url} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  const read = async (jobId: string) => (await readOk(await send('GET', `/agent/jobs/${jobId}`), 200)) as AgentJobView;
  return {
    token,
    send,
    read,
    submit: async (request, idempotencyKey = randomBytes(12).toString('hex')) => {
      const response = await send('POST', '/agent/jobs', request, { 'idempotency-key': idempotencyKey });
      return ((await readOk(response, 202)) as AgentJobView).id;
    },
    waitFor: async (jobId, ...states) => {
      const giveUpMs = Date.now() + GIVE_UP_MS;
      for (;;) {
        const job = await read(jobId);
        if (states.includes(job.state)) return job;
        const hasEnded = (FINAL_STATES as readonly string[]).includes(job.state);
        if (hasEnded || Date.now() > giveUpMs) {
          throw new Error(`the job is ${job.state}, not ${states.join(' or ')}: ${JSON.stringify(job, null, 2)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}
