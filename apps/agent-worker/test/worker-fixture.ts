import { randomBytes } from 'node:crypto';

import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TOKEN_POLICY, WakeQueues, WalletDirectory } from '@tollgate/agent-jobs';
import { acceptJob, createLaneId, Journal, type JobRecord, type LaneId } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import type { PlanJobReply } from '@tollgate/transport';
import { Redis } from 'ioredis';
import { privateKeyToAddress } from 'viem/accounts';

import { transferPlanner } from '../../../libs/journal/test/transfer-planner.js';
import { waitFor } from '../../../test/harness/retry.js';
import { startChain, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import type { CreatePlanning, JobPlanning } from '../src/planning/plannings.js';
import { startAgentWorker } from '../src/start-agent-worker.js';

export const RECEIVER: Hex = '0x00000000000000000000000000000000000a11ce';
export const AGENT_SECRET = 'a secret of the agent worker that is long enough';

export interface TestWallet {
  privateKey: Hex;
  lane: LaneId;
}

export interface StartedWorker {
  app: NestFastifyApplication;
  url: string;
  close: () => Promise<unknown>;
}

/** Every job is a transfer of one wei, so that specs of lanes and consumers need no token. */
export const transferPlanning: JobPlanning = {
  policy: TOKEN_POLICY,
  plan: (job, context) => transferPlanner.plan({ ...job, input: { receivers: [RECEIVER] } }, context),
  undo: () => Promise.resolve([]),
  judgeStep: () => Promise.resolve({ outcome: 'done' }),
  readTokens: () => Promise.resolve([{ symbol: 'SEI', address: '0x0', decimals: 18, names: ['sei', '0x0'] }]),
  readLimits: () => Promise.resolve([]),
  dryRun: ({ operation }) =>
    Promise.resolve<PlanJobReply>({ outcome: 'unavailable', reason: `no dry run of ${operation}` }),
};

/** A Redis, a chain, a journal, and workers in this process. */
export class WorkerFixture {
  readonly #workers: StartedWorker[] = [];

  private constructor(
    readonly server: RedisServer,
    readonly redis: Redis,
    readonly journal: Journal,
    readonly chain: Devnet,
  ) {}

  static async start(): Promise<WorkerFixture> {
    const [server, chain] = await Promise.all([startRedis(), startChain()]);
    const redis = new Redis(server.url, { maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    const journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    return new WorkerFixture(server, redis, journal, chain);
  }

  async stop(): Promise<void> {
    await this.endWorkers();
    this.redis.disconnect();
    await Promise.all([this.server.stop(), this.chain.stop()]);
  }

  async endWorkers(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.close()));
  }

  /** A new wallet with coins; its lane is adopted unless the options say otherwise. */
  async createWallet({ adopted = true }: { adopted?: boolean } = {}): Promise<TestWallet> {
    const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
    const lane = createLaneId(this.chain.chainId, privateKeyToAddress(privateKey));
    await callRpc(this.chain.rpcUrl, 'anvil_setBalance', [lane.address, `0x${(10n ** 20n).toString(16)}`]);
    if (adopted) await this.journal.adopt(lane, { pendingNonce: 0 });
    return { privateKey, lane };
  }

  /** Publishes the wallet, as a worker that has its key does at start. */
  async publish(name: string, { lane }: TestWallet): Promise<void> {
    await new WalletDirectory(this.redis).publish({ name, lane });
  }

  async readNames(): Promise<string[]> {
    return (await new WalletDirectory(this.redis).list()).map(({ name }) => name);
  }

  async unpublish(name: string): Promise<void> {
    await new WalletDirectory(this.redis).remove(name);
  }

  environment(more: Record<string, string> = {}): Record<string, string> {
    return {
      AGENT_WORKER_PORT: '0',
      REDIS_URL: this.server.url,
      RPC_URL: this.chain.rpcUrl,
      CHAIN_ID: String(this.chain.chainId),
      AGENT_SECRET,
      LOG_LEVEL: 'silent',
      LANE_POLL_MS: '50',
      LANE_LEASE_MS: '1500',
      SHUTDOWN_TIMEOUT_MS: '10000',
      ...more,
    };
  }

  async startWorker(
    more: Record<string, string>,
    createPlanning: CreatePlanning = () => ({ planning: transferPlanning, stop: () => Promise.resolve() }),
  ): Promise<StartedWorker> {
    const service = await startAgentWorker(this.environment(more), createPlanning);
    const worker = { app: service.app, close: () => service.close(), url: await service.app.getUrl() };
    this.#workers.push(worker);
    await service.opened;
    return worker;
  }

  /** Submits a transfer in the same way as the gateway: journaled, then woken through the lane's queue. */
  async submit(lane: LaneId, wallet = 'main'): Promise<string> {
    const connection = new Redis(this.server.url);
    connection.on('error', () => undefined);
    const troubles: unknown[] = [];
    const queue = new WakeQueues({ connection, onTrouble: (error) => troubles.push(error) });
    const result = await acceptJob(
      { journal: this.journal, queue },
      {
        lane,
        wallet,
        operation: 'transfer',
        input: { to: RECEIVER, amount: '1', token: '0x0' },
        keyId: 'key-1',
        idempotencyKey: randomBytes(8).toString('hex'),
        fingerprint: 'print',
      },
    );
    await queue.close();
    connection.disconnect();
    if (troubles.length > 0) throw new Error('the job was not woken', { cause: troubles[0] });
    if (result.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(result)}`);
    return result.jobId;
  }

  async waitForState(jobId: string, state: JobRecord['state']): Promise<JobRecord> {
    let job: JobRecord | null = null;
    await waitFor(`job ${jobId} is ${state}`, async () => {
      job = await this.journal.readJob(jobId);
      return job?.state === state;
    });
    if (!job) throw new Error(`there is no job ${jobId}`);
    return job;
  }

  async readNonce({ address }: LaneId): Promise<number> {
    return Number(await callRpc(this.chain.rpcUrl, 'eth_getTransactionCount', [address, 'latest']));
  }
}
