import { nameLane, type LaneId } from '@tollgate/journal';
import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX } from '@tollgate/protocol';

export { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX };

/** Deliveries of events to webhook targets. Deliveries that failed for good stay in it as dead letters. */
export const WEBHOOKS_QUEUE = 'agent-webhooks';

/** Wake-ups for the jobs of one lane; only the process that holds the lane takes them. */
export function wakeQueueOf(lane: LaneId): string {
  return `agent-wake-${nameLane(lane).replace(':', '-')}`;
}

/** The content of a wake-up; the job itself is in the journal. */
export interface WakeUp {
  jobId: string;
}
