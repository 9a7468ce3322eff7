import type { Redis } from 'ioredis';

import { useRedis } from '../../../test/harness/stack/borrow-redis.js';
import { Ledger } from '../src/ledger.js';
import type { LedgerOptions } from '../src/types.js';
import { HEAD_AT_BIRTH } from './sample-payments.js';

/** A server that hangs fails the test at once, and not after the two minutes that each of its tests may take. */
const ANSWER_WITHIN_MS = 15_000;

/** A ledger in an empty Redis for the tests of a file, which is open for their hooks and them. */
export function useLedger(options: Partial<LedgerOptions> = {}): { redis: Redis; ledger: Ledger } {
  const redis = useRedis({ commandTimeout: ANSWER_WITHIN_MS });
  const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000, ...options });
  beforeAll(() => ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH }));
  return { redis, ledger };
}
