import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Journal, type CrashPoint } from '@tollgate/journal';
import type { AgentJobEvent, AgentJobRequest, AgentJobView } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { startChain, type DevnetWithProtocols } from '../../../tools/devnet/chain/chain.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import type { ServiceApp, ServiceProcess } from '../../../tools/devnet/processes/service-process.js';
import type { AgentWallet, AgentWalletTerms } from '../../../tools/devnet/stack/agent-setup.js';
import { followEvents, type EventFollower } from '../../../tools/devnet/stack/follow-events.js';
import { startStack, type Stack } from '../../../tools/devnet/stack/stack.js';
import { createAgentClient, type AgentClient } from '../agents/agent-client.js';
import { readWalletHistory, type SentTransaction } from '../agents/wallet-history.js';
import { startRpcProxy, type RpcProxy } from '../network/rpc-proxy.js';
import { waitFor } from '../retry.js';

export interface AgentsOptions {
  workers?: number;
  /** Services that run with crash points, at which they can be killed. */
  fromSource?: readonly ServiceApp[];
  wallets?: Readonly<Record<string, AgentWalletTerms>>;
  env?: NodeJS.ProcessEnv;
  blockTimeSeconds?: number;
  /** Appended to the RPC server's address, as providers append their API keys. */
  rpcPath?: string;
}

/** Gateway, agent workers, Redis, a chain that a test can make fail, and their clients. */
export interface Agents {
  stack: Stack;
  chain: DevnetWithProtocols;
  /** The workers reach the chain only through it. */
  proxy: RpcProxy;
  /** The first wallet. */
  wallet: AgentWallet;
  client: AgentClient;
  follower: EventFollower;
  journal: Journal;
  rpc: (method: string, params?: unknown[]) => Promise<unknown>;
  /** A job of the first wallet. */
  submit(operation: AgentJobRequest['operation'], input: AgentJobRequest['input']): Promise<string>;
  /** The next process that reaches this point sends itself the signal there. */
  crashAt: (point: CrashPoint, signal?: NodeJS.Signals) => void;
  /** True until a process has reached the point. */
  isCrashPending(): boolean;
  /** The first wallet's transactions since the last call, by nonce. */
  readNewTransactions(): Promise<SentTransaction[]>;
  /** The stream's events about a job, each once; not that it waits, which depends on how busy the machine is. */
  eventsOf(jobId: string): AgentJobEvent[];
  stop(): Promise<void>;
}

/** Short enough for a test; a real chain is polled less often. */
const QUICK = {
  LANE_POLL_MS: '50',
  LANE_LEASE_MS: '1000',
  RESEND_AFTER_MS: '500',
  REPLACE_AFTER_MS: '5000',
  STRANGER_AFTER_MS: '1000',
  RPC_TIMEOUT_MS: '1000',
};
const START_WITHIN_MS = 120_000;
const HOOK = './test/harness/stack/crash-hook.ts';

/** For all tests of a describe: started before the first, stopped after the last. */
export function useAgents(options: AgentsOptions = {}): () => Agents {
  let agents: Agents | undefined;
  beforeAll(async () => {
    agents = await startAgents(options);
  }, START_WITHIN_MS);
  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest && agents) process.stderr.write(`\nA test failed. The last lines:\n${agents.stack.logs()}\n`);
    await agents?.stop();
  }, START_WITHIN_MS);
  return () => {
    if (!agents) throw new Error('the agents are there in tests and hooks, not while they are declared');
    return agents;
  };
}

async function startAgents(options: AgentsOptions): Promise<Agents> {
  const { workers = 1, fromSource = [], wallets, env, blockTimeSeconds, rpcPath = '' } = options;
  const chain = await startChain({ protocols: true, ...(blockTimeSeconds === undefined ? {} : { blockTimeSeconds }) });
  const proxy = await startRpcProxy(chain.rpcUrl, rpcPath, false);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-crash-'));
  const stack = await startStack({
    chain,
    agentWorkers: workers,
    ...(wallets === undefined ? {} : { agentWallets: wallets }),
    preload: Object.fromEntries(fromSource.map((app) => [app, HOOK])),
    env: { ...QUICK, RPC_URL: proxy.rpcUrl, CRASH_POINT_FILE: join(folder, 'point'), ...env },
  });
  const [wallet] = stack.agents!.wallets;
  const { token } = await stack.agents!.createApiKey(['submit', 'read']);
  const client = createAgentClient(stack.baseUrl, token);
  const follower = followEvents({ baseUrl: stack.baseUrl, token });
  await follower.ready;
  const redis = new Redis(stack.redis.url);
  redis.on('error', () => undefined);
  let seen = 0;
  const readHistory = async () => (await readWalletHistory(chain.rpcUrl, [wallet!.address])).get(wallet!.lane.address)!;
  return {
    stack,
    chain,
    proxy,
    wallet: wallet!,
    client,
    follower,
    journal: new Journal({ redis, timeoutMs: 10_000 }),
    rpc: (method, params) => callRpc(chain.rpcUrl, method, params),
    submit: (operation, input) => client.submit({ operation, wallet: wallet!.name, input }),
    crashAt: (point, signal = 'SIGKILL') => writeFileSync(join(folder, 'point'), `${point} ${signal}`),
    isCrashPending: () => existsSync(join(folder, 'point')),
    readNewTransactions: async () => {
      const history = await readHistory();
      const fresh = history.slice(seen);
      seen = history.length;
      return fresh;
    },
    eventsOf: (jobId) => {
      const events = follower.events.filter(
        ({ jobId: about, type }) => about === jobId && type !== 'transactionWaiting',
      );
      return [...new Map(events.map((event) => [event.id, event])).values()];
    },
    stop: async () => {
      proxy.reset();
      await follower.stop();
      redis.disconnect();
      await stack.stop();
      await proxy.stop();
      await chain.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Asserts that the job's steps were mined once each, at nonces without a gap, that nothing else was sent, and that each
 * event was reported under one id.
 */
export async function expectCarriedOutOnce(agents: Agents, job: AgentJobView): Promise<void> {
  const sent = await agents.readNewTransactions();
  const steps = job.steps.filter(({ state }) => state !== 'skipped');
  expect(sent.map(({ hash }) => hash)).toEqual(steps.map(({ mined }) => mined?.txHash));
  expect(sent.map(({ nonce }) => nonce)).toEqual(steps.map(({ nonce }) => nonce));
  expect((await agents.journal.readLane(agents.wallet.lane)).nextNonce).toBe(sent.at(-1)!.nonce + 1);
  await waitFor('the end on the stream', () => agents.eventsOf(job.id).some(({ type }) => type === 'jobCompleted'));
  const types = agents.eventsOf(job.id).map(({ type }) => type);
  expect(types.filter((type) => type !== 'transactionSubmitted')).toEqual([
    ...steps.map(() => 'transactionConfirmed'),
    'jobCompleted',
  ]);
}

/** Waits until the signal has killed one of these processes; returns it. */
export async function waitForDeath(processes: readonly ServiceProcess[]): Promise<ServiceProcess> {
  await waitFor('a process that dies', () => processes.some((one) => one.hasExited()));
  const dead = processes.find((one) => one.hasExited())!;
  expect(await dead.exited).toMatchObject({ signal: 'SIGKILL' });
  return dead;
}
