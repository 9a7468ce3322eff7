import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { callRpc, callRpcBatch } from '../../tools/devnet/processes/json-rpc.js';
import { DELAY_MS, measureRoundTrip, startBenchChain, startDelayProxy } from '../chain.js';
import { CPU_PER_ANSWER, type LaneOptions, type LaneResult, type LaneRow } from '../lane.js';
import { sendPayments } from '../load.js';
import { compareWithPeers, signPayments, startPeers, type Peer } from '../peers.js';
import { watchProcessors } from '../process-usage.js';
import { ratePerCore, runRounds, type Case, type Sample } from '../run-rounds.js';
import { signOwnPayments } from '../sign-own-payments.js';
import { startTollgate } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';

/** Payments to each server before any is counted, because code that has not run often is several times slower. */
const WARM_UP = 64;
const WARM_UP_IN_FLIGHT = 8;

/** Requests a round, to Tollgate and to each published server. */
const CASES = [
  { inFlight: 1, requests: 20, peerRequests: 8 },
  { inFlight: 32, requests: 640, peerRequests: 64 },
  { inFlight: 128, requests: 1_280, peerRequests: 128 },
];
const QUICK_CASES = [{ inFlight: 16, requests: 64, peerRequests: 16 }];

/**
 * Answers paid by authorizations that the published client signed (without it, the devnet), each settled on one chain
 * before it is answered: the published servers through their own facilitators, Tollgate through its verifier.
 */
export function runSignedLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const proxy = keep(await startDelayProxy(chain.rpcUrl));
    const rows: LaneRow[] = [];
    for (const [rpcUrl, place] of [
      [chain.rpcUrl, ''],
      [proxy.url, `, RPC ${DELAY_MS} ms away`],
    ] as const) {
      rows.push(...(await withCleanup((keepHere) => measure(chain, rpcUrl, place, options, keepHere))));
    }
    const lone = rows.find(({ subject, case: name }) => subject === 'tollgate' && name.startsWith('1 in flight, RPC'));
    return {
      lane: 'signed',
      title: 'answers paid by signed authorizations (EIP-3009), each settled before it is answered',
      rows,
      notes: [await measureRoundTrip(proxy.url, lone), ...compareWithPeers(rows)],
    };
  });
}

async function measure(
  chain: Devnet,
  rpcUrl: string,
  place: string,
  { rounds, quick, peers, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  progress('starting the servers');
  const tollgate = await startTollgate({ chain, rpcUrl, env: { SIGNED_PAYMENTS: 'true' } }, keep);
  const { origin: server } = new URL(tollgate.url);
  const signForTollgate = (count: number) =>
    peers ? signPayments(chain, { server, version: 2, count }) : signOwnPayments(chain, { url: tollgate.url, count });
  const targets: Peer[] = [
    { ...tollgate, header: 'PAYMENT-SIGNATURE', signPayments: signForTollgate },
    ...(peers ? await startPeers(chain, keep, progress, rpcUrl) : []),
  ];
  progress('warming up');
  for (const target of targets) await pay(chain, target, WARM_UP, WARM_UP_IN_FLIGHT);
  const cases = (quick ? QUICK_CASES : CASES).map(({ inFlight, requests, peerRequests }): Case => ({
    name: `${inFlight} in flight${place}`,
    baseline: tollgate.name,
    subjects: targets.map((target) => ({
      name: target.name,
      measure: () => pay(chain, target, target.name === tollgate.name ? requests : peerRequests, inFlight),
    })),
  }));
  return runRounds(cases, rounds, progress);
}

/** Signs the payments first, because authorizations run out; then measures only the paid requests. */
async function pay(chain: Devnet, target: Peer, count: number, inFlight: number): Promise<Sample> {
  const payments = await target.signPayments(count);
  const firstBlock = await readBlockNumber(chain);
  const readChainCores = watchProcessors({ chain: [chain.pid] });
  const sample = await sendPayments(target, payments, inFlight);
  const { 'chain cores': chainCores = NaN } = readChainCores();
  const gas = (await readGas(chain, firstBlock)) / (count - sample.failed);
  const cpuMs = 1000 / (ratePerCore(sample) ?? NaN);
  return {
    ...sample,
    detail: { [CPU_PER_ANSWER]: cpuMs, 'gas per payment': gas, 'chain cores': chainCores, ...sample.detail },
  };
}

async function readBlockNumber(chain: Devnet): Promise<number> {
  return Number(await callRpc(chain.rpcUrl, 'eth_blockNumber'));
}

/** Gas of everything mined after the block: while a subject is measured, no other sends transactions. */
async function readGas(chain: Devnet, afterBlock: number): Promise<number> {
  const head = await readBlockNumber(chain);
  const blocks = Array.from({ length: head - afterBlock }, (_, index) => `0x${(afterBlock + 1 + index).toString(16)}`);
  const params = blocks.map((block) => ({ method: 'eth_getBlockByNumber', params: [block, false] }));
  const mined = params.length === 0 ? [] : ((await callRpcBatch(chain.rpcUrl, params)) as { gasUsed: string }[]);
  return mined.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0);
}
