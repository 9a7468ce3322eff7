import {
  bucketEventsKey,
  parseBookEvent,
  REFUSED_EVENTS,
  type BookEvent,
  type UnknownBookEvent,
} from '@tollgate/book-events';
import type { Redis } from 'ioredis';

import { BUCKETS } from '../src/keys.js';

const STREAMS = [...Array.from({ length: BUCKETS }, (_, bucket) => bucketEventsKey(bucket)), REFUSED_EVENTS];

/** All events of the ledger, each stream in its order; of one payment if it is given. */
export async function readEvents(redis: Redis, payment?: string): Promise<(BookEvent | UnknownBookEvent)[]> {
  const streams = await Promise.all(STREAMS.map((stream) => redis.xrange(stream, '-', '+')));
  const events = streams.flat().map(([, fields]) => parseBookEvent(fields));
  return payment === undefined ? events : events.filter((event) => 'payment' in event && event.payment === payment);
}

/** Bytes that Redis uses for all streams. */
export async function measureEvents(redis: Redis): Promise<number> {
  const sizes = await Promise.all(STREAMS.map((stream) => redis.call('MEMORY', 'USAGE', stream)));
  return sizes.reduce<number>((sum, size) => sum + Number(size ?? 0), 0);
}
