import { hash } from 'node:crypto';

import type { JobRecord } from '@tollgate/journal';
import { canonicalJson, type AgentJobView } from '@tollgate/protocol';
import { z } from 'zod';

/** Identifies everything that a job requests; SHA-256, in hexadecimal. */
export function fingerprintOfJob(
  { operation, wallet, input }: Pick<AgentJobView, 'operation' | 'wallet' | 'input'>,
  retryOf?: string,
): string {
  const asked = { operation, wallet, input, ...(retryOf !== undefined && { retryOf }) };
  return hash('sha256', canonicalJson(asked), 'hex');
}

/** A call of a plan, as it would be sent. */
export const plannedCall = z.object({ to: z.string(), data: z.string(), valueWei: z.string() });
type PlannedCall = z.output<typeof plannedCall>;

/** The calls that a job has planned, in their order; a signature is none, and its money is in the bounds of the plan. */
export function listCalls({ steps }: Pick<JobRecord, 'steps'>): PlannedCall[] {
  const calls = steps.filter(({ signs }) => signs === undefined);
  return calls.map(({ to, data, value }) => ({ to, data, valueWei: value.toString() }));
}

/**
 * SHA-256, in hexadecimal, of what would be sent for a job: its request, the bounds of its plan, and its calls. Null: no
 * plan of it waits for an approval, or had one.
 */
export function digestPlan(job: JobRecord): string | null {
  if (job.approval === null) return null;
  const { id, operation, wallet, input, approval } = job;
  const planned = { id, operation, wallet, input, floorsHash: approval.floorsHash, calls: listCalls(job) };
  return hash('sha256', canonicalJson(planned), 'hex');
}
