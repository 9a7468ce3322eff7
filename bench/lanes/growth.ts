import { Redis } from 'ioredis';

import { startBenchChain } from '../bench-chain.js';
import type { LaneOptions, LaneResult, LaneRow } from '../lane.js';
import { sendPayments } from '../load/send-payments.js';
import { makePayments } from '../payments.js';
import { startReplayNode } from '../replay-node.js';
import { formatNumber } from '../report.js';
import { runRounds, type Sample } from '../run-rounds.js';
import { startTollgate, type Tollgate } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';
import { fillLedger, readMemory } from './fill-ledger.js';
import { measurePaidStacks } from './paid-stacks.js';

const PROCESSES: [gateways: number, verifiers: number][] = [
  [1, 1],
  [1, 2],
  [2, 1],
  [2, 2],
  [4, 4],
];
const ENTRIES = [0, 10_000, 1_000_000];
const FULL_ENTRIES = 10_000_000;
const IN_FLIGHT = 128;

/** The rate with more processes on this machine, and with a fuller ledger. */
export async function runGrowthLane(options: LaneOptions): Promise<LaneResult> {
  const processes = await withCleanup((keep) => measureProcesses(options, keep));
  const ledger = await withCleanup((keep) => measureEntries(options, keep));
  return {
    lane: 'growth',
    title: `paid answers, ${IN_FLIGHT} in flight, with more processes and with a fuller ledger`,
    baseline: 'one of each / empty ledger',
    rows: [...processes, ...ledger.rows],
    notes: ledger.notes,
  };
}

async function measureProcesses(options: LaneOptions, keep: KeepUntilEnd): Promise<LaneRow[]> {
  const stacks = PROCESSES.map(([gateways, verifiers]) => ({
    name: `${gateways} gateway${gateways > 1 ? 's' : ''}, ${verifiers} verifier${verifiers > 1 ? 's' : ''}`,
    options: { gateways, verifiers },
  }));
  const terms = { name: 'processes', inFlight: IN_FLIGHT, requests: options.quick ? 1_000 : 4_000 };
  return measurePaidStacks(keep(await startBenchChain()), stacks, terms, options, keep);
}

/** The ledger only ever grows here, so the sizes cannot be interleaved; each size has its rounds before the next. */
async function measureEntries(
  { rounds, quick, full, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<{ rows: LaneRow[]; notes: string[] }> {
  const chain = keep(await startBenchChain());
  const requests = quick ? 1_000 : 4_000;
  const node = keep(await startReplayNode(chain));
  const sizes = quick ? [0, 10_000] : [...ENTRIES, ...(full ? [FULL_ENTRIES] : [])];
  const tollgate = keep(await startTollgate({ chain, rpcUrl: node.url }));
  const redis = new Redis(tollgate.redisUrl);
  keep({ stop: async () => redis.disconnect() });
  progress('mining payments');
  const payments = await makePayments(chain, {
    kind: 'bare',
    count: requests * (sizes.length * rounds + 1),
    url: '',
    node: node.url,
  });
  await send(tollgate, payments.splice(0, requests));
  const rows: LaneRow[] = [];
  const notes: string[] = [];
  let filled = 0;
  for (const size of sizes) {
    const before = await readMemory(redis);
    await fillLedger(redis, { from: filled, to: size, progress });
    const bytes = ((await readMemory(redis)) - before) / (size - filled);
    if (size > filled) notes.push(`${formatNumber(size)} entries: ${formatNumber(bytes)} bytes of Redis memory each.`);
    filled = size;
    const name = `${formatNumber(size)} entries`;
    const measure = () => send(tollgate, payments.splice(0, requests));
    rows.push(
      ...(await runRounds([{ name: 'ledger', baseline: '', subjects: [{ name, measure }] }], rounds, progress)),
    );
  }
  const empty = rows[0]?.perSecond ?? NaN;
  return { rows: rows.map((row) => ({ ...row, ratio: (row.perSecond ?? NaN) / empty })), notes };
}

function send({ urls, roles }: Tollgate, payments: string[]): Promise<Sample> {
  return sendPayments({ name: 'tollgate', urls, roles, header: 'x-payment' }, payments, IN_FLIGHT);
}
