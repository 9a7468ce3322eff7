import type { ClaimRequest, StoredAnswer } from '@tollgate/ledger';
import type { Redis } from 'ioredis';

import { startRedis } from '../../tools/devnet/processes/redis.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { timeEach } from '../load.js';
import { runRounds, type Sample } from '../run-rounds.js';
import { claim, hashOf, makeClaims, openLedger, RETENTION_MS, sell } from '../sales.js';
import { withCleanup } from '../with-cleanup.js';

const IN_FLIGHT = 128;
const answer: StoredAnswer = {
  status: 200,
  headers: [['content-type', 'application/json']],
  body: Buffer.alloc(300, 'x'),
};

/** Only the ledger, on a Redis of its own that writes each claim to disk before it answers. */
export function runLedgerLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const server = keep(await startRedis());
    const { redis, ledger } = await openLedger(server.url, false, keep);
    const { ledger: booked } = await openLedger(server.url, true, keep);
    const count = quick ? 2_000 : 20_000;
    const works: Record<string, (request: ClaimRequest) => Promise<unknown>> = {
      'SET NX': (request) => redis.set(`plain:${hashOf(request)}`, request.owner, 'PX', RETENTION_MS, 'NX'),
      claim: (request) => claim(ledger, request),
      'claim, commit': (request) => sell(ledger, request),
      'claim, commit with 300 bytes of answer': (request) => sell(ledger, request, answer),
      'claim, commit, BOOK=on': (request) => sell(booked, request),
    };
    const subjects = Object.entries(works).map(([name, work]) => ({
      name,
      measure: async (): Promise<Sample> => {
        const requests = makeClaims(ledger, count);
        const before = await readMicros(redis);
        const sample = await timeEach(IN_FLIGHT, requests, work);
        return { ...sample, detail: { 'µs of Redis each': ((await readMicros(redis)) - before) / count } };
      },
    }));
    return {
      lane: 'ledger',
      title: 'claims and commits, one connection, appendfsync always',
      baseline: 'SET NX',
      rows: await runRounds([{ name: `${IN_FLIGHT} in flight`, baseline: 'SET NX', subjects }], rounds, progress),
    };
  });
}

/** The processor time that Redis's main thread has spent, which is what bounds a ledger that many processes share. */
async function readMicros(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
  return (seconds('used_cpu_sys_main_thread') + seconds('used_cpu_user_main_thread')) * 1e6;
}
