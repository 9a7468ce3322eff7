import { setTimeout as sleep } from 'node:timers/promises';

import type { Worker } from 'bullmq';

/**
 * Closes a BullMQ worker: what it has taken ends, unless that takes longer than `withinMs`. BullMQ itself would wait for
 * ever, for instance for a Redis that is away; what is left running then ends with the process.
 */
export async function closeConsumer(worker: Pick<Worker, 'close'>, withinMs: number): Promise<void> {
  const enough = new AbortController();
  const closing = worker.close().catch(() => undefined);
  await Promise.race([closing, sleep(withinMs, undefined, { signal: enough.signal }).catch(() => undefined)]);
  enough.abort();
}
