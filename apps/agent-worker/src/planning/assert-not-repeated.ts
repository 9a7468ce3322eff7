import type { JobRecord, PlannedStep } from '@tollgate/transactions';

/**
 * A step that was mined is never made again. Where a plan asks for it, the node may not have seen it yet; a token whose
 * allowance stays what it was would have it made for ever.
 * @throws Error
 */
export function assertNotRepeated(job: JobRecord, stepIndex: number, [next]: readonly PlannedStep[]): void {
  const before = job.steps.slice(0, stepIndex).filter(({ mined, skipped }) => mined !== null && !skipped);
  const isDone = before.some(({ to, data, value }) => to === next?.to && data === next.data && value === next.value);
  if (isDone) throw new Error(`A step of job ${job.id} is mined, and the chain does not show what it did.`);
}
