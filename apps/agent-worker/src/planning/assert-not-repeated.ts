import type { JobRecord, PlannedStep } from '@tollgate/journal';

/**
 * A mined step is never sent again. If a plan contains it once more, the node may not have seen its block yet; and a
 * token whose allowance never changes would have it sent endlessly.
 * @throws Error
 */
export function assertNotRepeated(job: JobRecord, stepIndex: number, [next]: readonly PlannedStep[]): void {
  const before = job.steps.slice(0, stepIndex).filter(({ mined, skipped }) => mined !== null && !skipped);
  const isDone = before.some(({ to, data, value }) => to === next?.to && data === next.data && value === next.value);
  if (isDone) throw new Error(`A step of job ${job.id} is mined, but the chain does not show its effect.`);
}
