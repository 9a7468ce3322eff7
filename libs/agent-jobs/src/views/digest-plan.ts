import { hash } from 'node:crypto';

import type { JobRecord } from '@tollgate/journal';
import { canonicalJson } from '@tollgate/protocol';

/** A call of a plan, as it would be sent. */
export interface PlannedCall {
  readonly to: string;
  readonly data: string;
  readonly valueWei: string;
}

/** The calls that a job has planned, in their order. */
export function listCalls({ steps }: Pick<JobRecord, 'steps'>): PlannedCall[] {
  return steps.map(({ to, data, value }) => ({ to, data, valueWei: value.toString() }));
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
