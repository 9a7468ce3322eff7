import type { AnsweredFacts } from '@tollgate/book-events';
import type { ClaimRequest, Ledger } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { startRedis } from '../../../tools/devnet/processes/redis.js';
import type { LaneOptions, LaneRow } from '../../lane.js';
import { runRounds } from '../../run-rounds.js';
import type { KeepUntilEnd } from '../../with-cleanup.js';
import { claim, makeClaims, openLedger, run } from '../claims.js';

const IN_FLIGHT = 128;
const ADDRESS = `0x${'ab'.repeat(20)}` as const;
const NO_LIMIT = { outboxLimit: 10_000_000 };

/** Claims and commits, with the book off and on. */
export async function measureBookedLedger(
  { rounds, quick, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  const count = quick ? 2_000 : 20_000;
  const subjects = [];
  for (const [name, isBooked] of [
    ['BOOK=off', false],
    ['BOOK=on', true],
  ] as const) {
    const { url } = keep(await startRedis());
    const ledger = await openBenchLedger(url, isBooked, keep);
    subjects.push({ name, measure: () => sell(ledger, count, IN_FLIGHT) });
  }
  return runRounds(
    [{ name: `claim and commit, ${IN_FLIGHT} in flight`, baseline: 'BOOK=off', subjects }],
    rounds,
    progress,
  );
}

/** A ledger that reports without limit, or not at all. */
export async function openBenchLedger(redisUrl: string, isBooked: boolean, keep: KeepUntilEnd): Promise<Ledger> {
  const redis = new Redis(redisUrl);
  keep({ stop: async () => redis.disconnect() });
  return openLedger({ redis, ...(isBooked && { book: NO_LIMIT }) });
}

/** Sells so many answers: claims and commits, each of a payment of its own. */
export function sell(ledger: Ledger, count: number, inFlight: number) {
  return run(makeClaims(ledger, count), inFlight, async (request: ClaimRequest) =>
    ledger.commit(await claim(ledger, request), null, { facts: ledger.isBooked ? factsOf(request) : null }),
  );
}

/** What a gateway reports of a sold answer. */
function factsOf({ candidates: [candidate] }: ClaimRequest): AnsweredFacts {
  const transaction = candidate?.id.kind === 'transfer' ? candidate.id.txHash : null;
  const nowMs = Date.now();
  return {
    ...{ requestId: crypto.randomUUID(), route: '/api/weather', method: 'GET', scheme: 'tx-hash' },
    ...{ network: 'eip155:1328', chainId: 1328, asset: ADDRESS, payTo: ADDRESS, payer: ADDRESS },
    ...{ amount: '1000', price: '1000', transaction, logIndex: 0 },
    ...{ requestHash: 'x'.repeat(22), answerHash: 'a'.repeat(64), status: 200, bytes: 300, upstreamMs: 3 },
    timeline: {
      presentedAtMs: nowMs,
      verifiedAtMs: nowMs,
      claimedAtMs: nowMs,
      fulfilledAtMs: nowMs,
      settledAtMs: null,
    },
  };
}
