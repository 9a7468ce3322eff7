import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Devnet } from '../devnet/chain.js';
import { repositoryRoot } from '../devnet/repository.js';
import { startProgram, type Program } from './start-program.js';

export const PEER_SERVERS = ['@x402/express', '@x402/hono', 'x402-express', 'x402-hono'] as const;
export type PeerServer = (typeof PEER_SERVERS)[number];

export interface Peer {
  name: PeerServer;
  version: 1 | 2;
  server: Program;
  facilitator: Program;
  /** Signs payments with the published client's code; one header value each. */
  signPayments: (count: number) => Promise<string[]>;
  paymentHeader: 'X-PAYMENT' | 'PAYMENT-SIGNATURE';
}

/** Installs the published packages into bench/peers if they are missing or differ from the lockfile. */
export async function installPeers(progress: (text: string) => void): Promise<void> {
  const lockfile = createHash('sha256')
    .update(readFileSync(join(peersFolder(), 'package-lock.json')))
    .digest('hex');
  const marker = join(peersFolder(), 'node_modules', '.installed');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lockfile) return;
  progress('installing the published servers into bench/peers (npm ci, once)');
  const install = spawn('npm', ['ci', '--no-progress', '--loglevel=error'], { cwd: peersFolder(), stdio: 'inherit' });
  const code = await new Promise<number | null>((resolve, reject) => install.on('close', resolve).on('error', reject));
  if (code !== 0) throw new Error('npm ci failed in bench/peers; run with --no-peers to measure without them');
  writeFileSync(marker, lockfile);
}

/** The facilitators of both protocol versions, each with a wallet of its own, settling on the chain behind `rpcUrl`. */
export async function startFacilitators(chain: Devnet, rpcUrl = chain.rpcUrl): Promise<Record<1 | 2, Program>> {
  const start = (version: 1 | 2) => {
    const relayerKey = chain.accounts[version]?.privateKey ?? '';
    return startProgram('peers/facilitator.mjs', [`v${version}`], peerEnvironment(chain, { rpcUrl, relayerKey }));
  };
  const [v1, v2] = await Promise.all([start(1), start(2)]);
  return { 1: v1, 2: v2 };
}

export async function startPeer(name: PeerServer, chain: Devnet, facilitators: Record<1 | 2, Program>): Promise<Peer> {
  const version = name.startsWith('@') ? 2 : 1;
  const facilitator = facilitators[version];
  const server = await startProgram(
    'peers/server.mjs',
    [name],
    peerEnvironment(chain, { rpcUrl: chain.rpcUrl, facilitatorUrl: facilitator.url }),
  );
  return {
    name,
    version,
    server,
    facilitator,
    paymentHeader: version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE',
    signPayments: (count) => signPayments(chain, { server: server.url, version, count }),
  };
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
  return startProgram('peers/server.mjs', ['fastify'], { BENCH_PEER: JSON.stringify({ body }) });
}

function peerEnvironment(chain: Devnet, own: Record<string, string>): Record<string, string> {
  const { chainId, asset, payTo } = chain;
  return { BENCH_PEER: JSON.stringify({ chainId, asset, payTo, assetVersion: '2', ...own }) };
}

function peersFolder(): string {
  return join(repositoryRoot(), 'bench', 'peers');
}
