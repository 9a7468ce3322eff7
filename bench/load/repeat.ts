import autocannon from 'autocannon';

import type { Sample } from '../run-rounds.js';

export interface RepeatOptions {
  url: string;
  connections: number;
  seconds: number;
  expectedStatus: number;
}

/** The same request again and again for some seconds, with autocannon. */
export async function repeatRequest({ url, connections, seconds, expectedStatus }: RepeatOptions): Promise<Sample> {
  const result = await autocannon({ url, connections, duration: seconds });
  const expected = result.statusCodeStats[expectedStatus]?.count ?? 0;
  return {
    perSecond: expected / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.requests.total - expected + result.errors + result.timeouts,
  };
}
