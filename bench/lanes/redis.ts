import type { ClaimRequest } from '@tollgate/ledger';

import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { startRedisShards } from '../../tools/devnet/processes/redis-shards.js';
import { startRedis } from '../../tools/devnet/processes/redis.js';
import { startBenchChain } from '../bench-chain.js';
import type { LaneOptions, LaneResult, LaneRow } from '../lane.js';
import { runRounds } from '../run-rounds.js';
import type { BenchServers } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';
import { claim, makeClaims, openLedger, run } from './claims.js';
import { measurePaidStacks, type PaidStack } from './paid-stacks.js';

const PAID_IN_FLIGHT = 64;
const CLAIMS_IN_FLIGHT = 128;
const LOCAL = 'one server with a replica, local';
const SHARDS = [1, 2, 3];

/** Paid answers with each setup of Redis servers, and claims with one to three of them, all on this machine. */
export async function runRedisLane(options: LaneOptions): Promise<LaneResult> {
  const paid = await withCleanup(async (keep) => measurePaid(keep(await startBenchChain()), options, keep));
  const claims = await withCleanup((keep) => measureClaims(options, keep));
  return {
    lane: 'redis',
    title: 'paid answers and claims, by the servers of Redis',
    baseline: `${LOCAL} / ${nameShards(1)}`,
    rows: [...paid, ...claims],
  };
}

async function measurePaid(chain: Devnet, options: LaneOptions, keep: KeepUntilEnd): Promise<LaneRow[]> {
  const name = `paid, ${PAID_IN_FLIGHT} in flight`;
  const terms = { name, inFlight: PAID_IN_FLIGHT, requests: options.quick ? 500 : 2_000 };
  return measurePaidStacks(chain, await startSetups(keep), terms, options, keep);
}

/** Servers of Redis for stacks; the first one is what the others are compared with. */
async function startSetups(keep: KeepUntilEnd): Promise<PaidStack[]> {
  const one = keep(await startRedis());
  const env = { LEDGER_DURABILITY: 'replica' };
  const setups: PaidStack[] = [
    { name: LOCAL, options: { redis: await startPair(keep) } },
    { name: 'one server with a replica, replica', options: { redis: await startPair(keep), env } },
    { name: 'one server', options: { redis: { url: one.url, servers: [one] } } },
  ];
  for (const count of SHARDS)
    setups.push({ name: nameShards(count), options: { redis: keep(await startRedisShards(count)) } });
  return setups;
}

/** A primary with a replica. */
async function startPair(keep: KeepUntilEnd): Promise<BenchServers> {
  const primary = keep(await startRedis({ args: ['--repl-diskless-sync-delay', '0'] }));
  const args = ['--replicaof', '127.0.0.1', String(primary.port)];
  const replica = keep(await startRedis({ args }));
  return { url: primary.url, servers: [primary, replica] };
}

async function measureClaims({ rounds, quick, progress }: LaneOptions, keep: KeepUntilEnd): Promise<LaneRow[]> {
  const count = quick ? 1_000 : 10_000;
  const subjects = [];
  for (const shards of SHARDS) {
    const { cluster } = keep(await startRedisShards(shards));
    const ledger = await openLedger({ redis: cluster });
    const measure = () =>
      run(makeClaims(ledger, count), CLAIMS_IN_FLIGHT, (request: ClaimRequest) => claim(ledger, request));
    subjects.push({ name: nameShards(shards), measure });
  }
  const name = `claims, ${CLAIMS_IN_FLIGHT} in flight`;
  return runRounds([{ name, baseline: nameShards(1), subjects }], rounds, progress);
}

function nameShards(count: number): string {
  return `a cluster of ${count}`;
}
