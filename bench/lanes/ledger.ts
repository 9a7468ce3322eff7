import type { ClaimRequest, Ledger, StoredAnswer } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { startRedis } from '../../tools/devnet/processes/redis.js';
import type { LaneOptions, LaneResult, LaneRow } from '../lane.js';
import { formatNumber } from '../report.js';
import { runRounds, type Sample, type Subject } from '../run-rounds.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';
import { claim, makeClaims, openLedger, RETENTION_MS, run } from './claims.js';
import { fillLedger, readMemory, serverMicros } from './fill-ledger.js';

const IN_FLIGHT = 128;
const ENTRIES = [10_000, 100_000, 1_000_000];
const FULL_ENTRIES = 10_000_000;
const answer: StoredAnswer = {
  status: 200,
  headers: [['content-type', 'application/json']],
  body: Buffer.alloc(300, 'x'),
};

/** Only the ledger, on a Redis of its own that writes each claim to disk before it answers. */
export async function runLedgerLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const rates = await measureRates(await startLedger(keep), options);
    const { rows, notes } = await measureGrowth(await startLedger(keep), options);
    return {
      lane: 'ledger',
      title: 'claims and commits, one connection, appendfsync always',
      baseline: 'SET NX',
      rows: [...rates, ...rows],
      notes,
    };
  });
}

interface BenchLedger {
  redis: Redis;
  ledger: Ledger;
}

async function startLedger(keep: KeepUntilEnd): Promise<BenchLedger> {
  const { url } = keep(await startRedis({ appendfsync: 'always' }));
  const redis = new Redis(url);
  keep({ stop: async () => redis.disconnect() });
  return { redis, ledger: await openLedger({ redis }) };
}

function measureRates({ redis, ledger }: BenchLedger, { rounds, quick, progress }: LaneOptions): Promise<LaneRow[]> {
  const count = quick ? 2_000 : 20_000;
  const load = (work: (request: ClaimRequest) => Promise<unknown>) => async (): Promise<Sample> => {
    const requests = makeClaims(ledger, count);
    const before = serverMicros(await redis.info('cpu'));
    const sample = await run(requests, IN_FLIGHT, work);
    const micros = serverMicros(await redis.info('cpu')) - before;
    return { ...sample, detail: { 'µs of Redis each': micros / count } };
  };
  const setOnce = (request: ClaimRequest): Promise<unknown> =>
    redis.set(`plain:${nameOf(request)}`, request.owner, 'PX', RETENTION_MS, 'NX');
  const subjects: Subject[] = [
    { name: 'SET NX', measure: load(setOnce) },
    { name: 'claim', measure: load((request) => claim(ledger, request)) },
    { name: 'claim, commit', measure: load(async (request) => ledger.commit(await claim(ledger, request), null)) },
    {
      name: 'claim, commit with 300 bytes of answer',
      measure: load(async (request) => ledger.commit(await claim(ledger, request), answer)),
    },
  ];
  const cases = [{ name: `${IN_FLIGHT} in flight`, baseline: 'SET NX', subjects }];
  return runRounds(cases, rounds, progress);
}

/** The ledger only grows here, so the sizes follow one another, each with all its rounds. */
async function measureGrowth(
  { redis, ledger }: BenchLedger,
  { rounds, quick, full, progress }: LaneOptions,
): Promise<{ rows: LaneRow[]; notes: string[] }> {
  const sizes = quick ? ENTRIES.slice(0, 1) : [...ENTRIES, ...(full ? [FULL_ENTRIES] : [])];
  const count = quick ? 500 : 2_000;
  const rows: LaneRow[] = [];
  const notes: string[] = [];
  const [sample] = makeClaims(ledger, 1);
  if (sample) await ledger.commit(await claim(ledger, sample), null);
  const [empty, keys] = [await readMemory(redis), await redis.dbsize()];
  let filled = 0;
  for (const size of sizes) {
    await fillLedger(redis, { from: filled, to: size, progress });
    filled = size;
    const bytes = ((await readMemory(redis)) - empty) / ((await redis.dbsize()) - keys);
    notes.push(`${formatNumber(size)} payments: ${formatNumber(bytes)} bytes of Redis memory each.`);
    const alone = () => run(makeClaims(ledger, count), 1, (request) => claim(ledger, request));
    const together = () => run(makeClaims(ledger, count * 5), IN_FLIGHT, (request) => claim(ledger, request));
    const cases = [
      { name: '1 in flight', baseline: '', subjects: [{ name: `claim among ${formatNumber(size)}`, measure: alone }] },
      {
        name: `${IN_FLIGHT} in flight`,
        baseline: '',
        subjects: [{ name: `claim among ${formatNumber(size)}`, measure: together }],
      },
    ];
    rows.push(...(await runRounds(cases, rounds, progress)));
  }
  return { rows, notes };
}

function nameOf({ candidates: [candidate] }: ClaimRequest): string {
  return candidate?.id.kind === 'transfer' ? candidate.id.txHash : '';
}
