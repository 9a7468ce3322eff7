import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { AGENT_JOBS_QUEUE, openQueue, wakeQueueOf } from '@tollgate/agent-jobs';
import { WEBHOOKS_QUEUE, type QueueJobs } from '@tollgate/common';
import { nameLane } from '@tollgate/journal';
import type { Queue } from 'bullmq';

import type { AgentConnections } from '../shared/agent-connections.js';

const REFRESH_MS = 5_000;
const FIXED: readonly (readonly [name: keyof QueueJobs, description: string])[] = [
  [AGENT_JOBS_QUEUE, 'Jobs that other services enqueue directly.'],
  [WEBHOOKS_QUEUE, 'Events for webhook targets; failed deliveries are the dead letters.'],
];

/** The queues on the board: two fixed ones, and one for each lane. */
export class BoardQueues {
  readonly #queues: Queue[] = [];
  readonly #names = new Set<string>();
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly connections: AgentConnections) {}

  openFixed(): BullMQAdapter[] {
    return FIXED.map(([name, description]) => this.#open(name, description));
  }

  /** The queues of new lanes. New lanes are rare, so the journal is not read for every request. */
  async openNew(): Promise<BullMQAdapter[]> {
    if (performance.now() - this.#readAtMs < REFRESH_MS) return [];
    const lanes = await this.connections.journal.readLanes();
    this.#readAtMs = performance.now();
    return lanes
      .filter((lane) => !this.#names.has(wakeQueueOf(lane)))
      .map((lane) => this.#open(wakeQueueOf(lane), `Wake-ups for the jobs of ${nameLane(lane)}.`));
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#queues.map((queue) => queue.close()));
  }

  #open(name: keyof QueueJobs, description: string): BullMQAdapter {
    const queue = openQueue(name, this.connections.queueRedis);
    this.#names.add(name);
    this.#queues.push(queue);
    const adapter = new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false, description });
    adapter.setFormatter('data', hideSignature);
    return adapter;
  }
}

/** Hides the signature: a reader of the board could submit a signed message again that was not executed yet. */
function hideSignature(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('signature' in data)) return data;
  return { ...data, signature: '[hidden]' };
}
