import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { arePackagesInstalled, installPackages } from '../scripts/setup/install-packages.mjs';
import type { Devnet } from '../tools/devnet/chain/chain.js';
import { repositoryRoot } from '../tools/devnet/processes/repository.js';
import { startProgram, type Program } from '../tools/devnet/processes/start-program.js';
import type { LaneRow } from './lane.js';
import type { PaidTarget } from './load.js';
import { formatNumber } from './report.js';
import type { KeepUntilEnd } from './with-cleanup.js';

const PEER_SERVERS = ['@x402/express', '@x402/hono', 'x402-express', 'x402-hono'];

export interface Peer extends PaidTarget {
  /** Signs payments with the published client's code; one header value each. */
  signPayments: (count: number) => Promise<string[]>;
}

/**
 * Every published server with the facilitator of its version, which has a wallet of its own and settles on the chain
 * behind `rpcUrl`.
 */
export async function startPeers(
  chain: Devnet,
  keep: KeepUntilEnd,
  progress: (text: string) => void,
  rpcUrl = chain.rpcUrl,
): Promise<Peer[]> {
  if (!arePackagesInstalled(peersFolder())) {
    progress('installing the published servers into bench/peers (npm ci, once)');
    await installPackages(peersFolder()).catch((cause: unknown) => {
      throw new Error('npm ci failed in bench/peers; run with --no-peers to measure without them', { cause });
    });
  }
  const startFacilitator = async (version: 1 | 2) => {
    const environment = peerEnvironment(chain, { rpcUrl, relayerKey: chain.accounts[version]?.privateKey ?? '' });
    return keep(await startProgram(['bench/peers/facilitator.mjs', `v${version}`], environment));
  };
  const [v1, v2] = await Promise.all([startFacilitator(1), startFacilitator(2)]);
  const peers: Peer[] = [];
  for (const name of PEER_SERVERS) {
    const version = name.startsWith('@') ? 2 : 1;
    const facilitator = version === 1 ? v1 : v2;
    const environment = peerEnvironment(chain, { rpcUrl: chain.rpcUrl, facilitatorUrl: facilitator.url });
    const server = keep(await startProgram(['bench/peers/server.mjs', name], environment));
    peers.push({
      name,
      url: `${server.url}/api/weather`,
      roles: { server: [server.pid], facilitator: [facilitator.pid] },
      header: version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE',
      signPayments: (count) => signPayments(chain, { server: server.url, version, count }),
    });
  }
  return peers;
}

/** Signs payments to any server's challenge with the published client's own code; one header value each. */
export async function signPayments(
  chain: Devnet,
  asked: { server: string; version: 1 | 2; count: number },
): Promise<string[]> {
  const payerKeys = chain.accounts.slice(3).map(({ privateKey }) => privateKey);
  const program = join(peersFolder(), 'sign-payments.mjs');
  const task = JSON.stringify({ ...asked, payerKeys });
  const { stdout } = await promisify(execFile)(process.execPath, [program, task], { maxBuffer: 1 << 30 });
  return stdout.trim().split('\n');
}

/** Raw Fastify, of the version the gateway has, answering 402 with the given body, without any logic. */
export function startRawFastify(body: string): Promise<Program> {
  return startProgram(['bench/peers/server.mjs', 'fastify'], { BENCH_PEER: JSON.stringify({ body }) });
}

/** Compares Tollgate with the best published server, case by case. */
export function compareWithPeers(rows: LaneRow[]): string[] {
  return rows
    .filter(({ subject }) => subject === 'tollgate')
    .flatMap((own) => {
      const peers = rows.filter((row) => row.case === own.case && PEER_SERVERS.includes(row.subject));
      const [fastest] = [...peers].sort((a, b) => (b.perSecond ?? 0) - (a.perSecond ?? 0));
      const [quickest] = [...peers].sort((a, b) => (a.p50Ms ?? Infinity) - (b.p50Ms ?? Infinity));
      if (!fastest?.perSecond || !quickest?.p50Ms || !own.perSecond || !own.p50Ms) return [];
      const rate = `${formatNumber(own.perSecond / fastest.perSecond)} times the rate of the fastest, ${fastest.subject}`;
      const latency = `${formatNumber(own.p50Ms / quickest.p50Ms)} times the median latency of ${quickest.subject}`;
      return [`${own.case}: ${rate}; ${latency}.`];
    });
}

function peerEnvironment(chain: Devnet, own: Record<string, string>): Record<string, string> {
  const { chainId, asset, payTo } = chain;
  return { BENCH_PEER: JSON.stringify({ chainId, asset, payTo, assetVersion: '2', ...own }) };
}

function peersFolder(): string {
  return join(repositoryRoot(), 'bench', 'peers');
}
