import { isKeyOfLane, isLaneKey } from '@tollgate/journal';
import { entryOfKey, isBirthKey, REFUSED_SEEN, REFUSED_STREAM } from '@tollgate/ledger';
import { AGENT_QUEUE_PREFIX } from '@tollgate/protocol';
import { RESTORE_MARKER } from '@tollgate/redis';
import { BOOK_POSITION } from '@tollgate/webhooks';
import type { Redis } from 'ioredis';

import { PLAN_QUEUE, SETTLE_QUEUE, VERIFY_QUEUE } from '../../../libs/transport/src/messages/queues.js';
import type { BackupCounts } from './backup-format.js';

/** Every key of Tollgate. */
export const PATTERN = 'tollgate:*';

const SCAN_COUNT = 512;

/** Those of every chain. */
const QUEUES = [VERIFY_QUEUE, SETTLE_QUEUE].map((kind) => `tollgate:{${kind}-`);
const LEFT_OUT = [...QUEUES, `tollgate:{${PLAN_QUEUE}}:`, `${AGENT_QUEUE_PREFIX}:`, RESTORE_MARKER];
const COPIED_BEFORE: readonly string[] = [REFUSED_SEEN, REFUSED_STREAM, BOOK_POSITION];

/**
 * Whether the pass over all keys copies this one. Births are copied at its end; lanes, refusals and a position before it.
 * What is in a queue may have been carried out since, so a copy of it must not be taken again.
 */
export function isCopiedAlone(key: string): boolean {
  if (isKeyOfLane(key) || isBirthKey(key) || COPIED_BEFORE.includes(key)) return false;
  return !key.endsWith(':fence') && !LEFT_OUT.some((start) => key.startsWith(start));
}

/** Each page once; a page may repeat a key of an earlier one. */
export function scanKeys(primary: Redis, pattern: string): AsyncIterable<string[]> {
  return primary.scanStream({ match: pattern, count: SCAN_COUNT });
}

/** Counts a key for the summary. */
export function countKey(counts: BackupCounts, key: string): void {
  counts.keys += 1;
  if (entryOfKey(key) !== null) counts.payments += 1;
  else if (/^tollgate:\{pay-\d+\}:answer:/.test(key)) counts.answers += 1;
  else if (isLaneKey(key)) counts.lanes += 1;
  else if (isKeyOfLane(key) && key.includes(':job:')) counts.jobs += 1;
}
