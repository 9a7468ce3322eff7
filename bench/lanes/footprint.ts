import type { ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { startBenchChain } from '../bench-chain.js';
import { startFloor } from '../floor.js';
import type { LaneOptions, LaneResult, LaneRow } from '../lane.js';
import { encodeRequest, sendEach } from '../load/send-each.js';
import { makePayments } from '../payments.js';
import { startPeers, startRawFastify } from '../peers.js';
import { readProcessSeconds, readResidentBytes } from '../process-usage.js';
import { startReplayNode } from '../replay-node.js';
import { formatNumber } from '../report.js';
import { median } from '../run-rounds.js';
import { startTollgate } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';

const UNPAID_REQUESTS = 100_000;
const PAID_REQUESTS = 4_000;
const PEER_PAID_REQUESTS = 200;
const SETTLE_MS = 3000;

interface Weighed {
  name: string;
  pid: number;
  startUpMs: number;
}

/** Start-up time and resident memory of every process, after its start and after load. */
export async function runFootprintLane(options: LaneOptions): Promise<LaneResult> {
  const { rounds, quick, progress } = options;
  const runs: Map<string, Record<string, number>>[] = [];
  // Each round starts every process anew; three say enough about a start.
  for (let round = 1; round <= Math.min(rounds, 3); round++) {
    progress(`round ${round}: starting and loading every process`);
    runs.push(await withCleanup((keepForRound) => weighAll(options, keepForRound)));
  }
  const names = [...(runs[0]?.keys() ?? [])];
  return {
    lane: 'footprint',
    title: 'start-up time and resident memory of each process',
    rows: names.map((name): LaneRow => {
      const values = (key: string) => median(runs.map((run) => run.get(name)?.[key] ?? NaN));
      return {
        case: name,
        subject: '',
        detail: {
          'start-up ms': values('startUpMs'),
          'start-up CPU ms': values('startUpCpuMs'),
          'MiB idle': values('idle') / 2 ** 20,
          'MiB after load': values('loaded') / 2 ** 20,
        },
      };
    }),
    notes: [
      `Start-up: from the start of the process until it says it is ready. Load: ${quick ? 'a tenth of ' : ''}${formatNumber(UNPAID_REQUESTS)} requests without payment, then ${formatNumber(PAID_REQUESTS)} paid ones (published servers: half as many, and ${PEER_PAID_REQUESTS}).`,
    ],
  };
}

async function weighAll(
  { quick, peers, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<Map<string, Record<string, number>>> {
  const share = quick ? 0.1 : 1;
  const chain = keep(await startBenchChain());
  const node = keep(await startReplayNode(chain));
  const tollgate = keep(await startTollgate({ chain, rpcUrl: node.url }));
  const floor = await startFloor({ chain, rpcUrl: node.url }, keep);
  const body = await (await fetch(tollgate.url)).text();
  const raw = keep(await startRawFastify(body));
  const weighed: Weighed[] = [
    ...(await Promise.all([...tollgate.gateways, ...tollgate.verifiers].map(weighStart))),
    { name: 'one process', pid: floor.pid, startUpMs: floor.startUpMs },
    { name: 'raw Fastify', pid: raw.pid, startUpMs: raw.startUpMs },
  ];
  const loads: (() => Promise<unknown>)[] = [
    () => loadUnpaid(tollgate.url, UNPAID_REQUESTS * share),
    async () => {
      const proofs = await makePayments(chain, {
        kind: 'bare',
        count: PAID_REQUESTS * share,
        url: tollgate.url,
        node: node.url,
      });
      await loadPaid(tollgate.url, 'x-payment', proofs);
      await loadPaid(floor.url, 'x-payment', proofs);
    },
    () => loadUnpaid(`${raw.url}/api/weather`, UNPAID_REQUESTS * share),
  ];
  if (peers) {
    const started = await startPeers(chain, keep, progress);
    for (const version of [1, 2]) {
      const facilitator = started.find((peer) => peer.version === version)?.facilitator;
      if (facilitator) weighed.push({ ...facilitator, name: `facilitator of x402 v${version}` });
    }
    for (const { name, url, server, paymentHeader, signPayments } of started) {
      weighed.push({ ...server, name });
      loads.push(async () => {
        await loadUnpaid(url, UNPAID_REQUESTS * share * 0.5);
        await loadPaid(url, paymentHeader, await signPayments(PEER_PAID_REQUESTS * share));
      });
    }
  }
  const startUpCpuMs = weighed.map(({ pid }) => readProcessSeconds(pid) * 1000);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const idle = weighed.map(({ pid }) => readResidentBytes(pid));
  for (const load of loads) await load();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return new Map(
    weighed.map(({ name, pid, startUpMs }, index) => [
      name,
      { startUpMs, startUpCpuMs: startUpCpuMs[index] ?? NaN, idle: idle[index] ?? NaN, loaded: readResidentBytes(pid) },
    ]),
  );
}

/** The stack looks every 50 ms whether a service is ready, so much is this too long at most. */
async function weighStart(service: ServiceProcess): Promise<Weighed> {
  await service.kill('SIGTERM');
  const startedMs = performance.now();
  await service.restart();
  return { name: `tollgate ${service.name}`, pid: service.pid, startUpMs: performance.now() - startedMs };
}

async function loadUnpaid(url: string, count: number): Promise<void> {
  const requests = new Array<Buffer>(count).fill(encodeRequest(url));
  await sendEach({ urls: [url], requests, inFlight: 64, expectedStatus: 402 });
}

async function loadPaid(url: string, header: string, proofs: string[]): Promise<void> {
  const requests = proofs.map((proof) => encodeRequest(url, { [header]: proof }));
  await sendEach({ urls: [url], requests, inFlight: 32, expectedStatus: 200 });
}
