import { startRedisShards } from '../../tools/devnet/processes/redis-shards.js';
import { startRedis } from '../../tools/devnet/processes/redis.js';
import { startBenchChain, startReplayNode } from '../chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import type { PaidTarget } from '../load.js';
import { measurePaidCases } from '../paid-cases.js';
import { startTollgate, type BenchServers, type TollgateOptions } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';

const LOCAL = 'one server with a replica, local';

/** Paid answers with each setup of Redis servers, all on this machine. */
export function runRedisLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const { url: node } = keep(await startReplayNode(chain));
    const setups: Pick<TollgateOptions, 'name' | 'redis' | 'env'>[] = [
      { name: LOCAL, redis: await startPair(keep) },
      {
        name: 'one server with a replica, replica',
        redis: await startPair(keep),
        env: { LEDGER_DURABILITY: 'replica' },
      },
      { name: 'one server' },
      { name: 'a cluster of 3', redis: keep(await startRedisShards()) },
    ];
    const targets: PaidTarget[] = [];
    for (const setup of setups) targets.push(await startTollgate({ chain, rpcUrl: node, ...setup }, keep));
    const cases = [{ name: 'paid, 64 in flight', inFlight: 64, requests: options.quick ? 500 : 2_000 }];
    const rows = await measurePaidCases(cases, { chain, node, targets }, options);
    return { lane: 'redis', title: 'paid answers, by the servers of Redis', baseline: LOCAL, rows };
  });
}

/** A primary with a replica. */
async function startPair(keep: KeepUntilEnd): Promise<BenchServers> {
  const primary = keep(await startRedis({ args: ['--repl-diskless-sync-delay', '0'] }));
  const replica = keep(await startRedis({ args: ['--replicaof', '127.0.0.1', String(primary.port)] }));
  return { url: primary.url, servers: [primary, replica] };
}
