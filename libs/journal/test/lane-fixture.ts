import { randomBytes } from 'node:crypto';

import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';

import { startRpcProxy, type RpcProxy } from '../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { bundleProgram } from '../../../test/harness/stack/bundle-program.js';
import { startChain, type ChainOptions, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { startChild, type Child } from '../../../tools/devnet/processes/child-process.js';
import { callRpc, callRpcBatch } from '../../../tools/devnet/processes/json-rpc.js';
import { Chain } from '../src/chain/chain.js';
import { isOpen, type JobEvent, type JobRecord, type LaneId } from '../src/jobs/job.js';
import { createLaneId } from '../src/jobs/keys.js';
import type { SubmitRequest } from '../src/jobs/transition.js';
import type { LaneSettings } from '../src/lanes/lane-settings.js';
import { LaneRunner, type LaneRunnerOptions } from '../src/runner/lane-runner.js';
import { createKeySigner } from '../src/signer/create-key-signer.js';
import { Journal } from '../src/store/journal.js';
import type { WorkerTask } from './lane-worker.js';
import { RECEIVER, transferPlanner, type TransferInput } from './transfer-planner.js';

export { RECEIVER };

export interface MinedTransaction {
  from: Hex;
  to: Hex;
  nonce: number;
  input: Hex;
  hash: Hex;
}

/** What fits into an environment variable. */
type NumberSettings = Partial<Omit<LaneSettings, 'names'>>;

/** Fast enough for a test; a real chain is polled less often. */
export const QUICK: NumberSettings = {
  pollMs: 20,
  reconcileMs: 100,
  leaseMs: 600,
  resendAfterMs: 200,
  emptyWalletMs: 50,
  planRetryMs: 20,
  nonceDoubtMs: 50,
  // A busy machine lets a job wait for seconds.
  waitingAfterMs: 600_000,
};

/** A Redis, a chain, and a new wallet per test whose lane is adopted. */
export class LaneFixture {
  readonly #runners: LaneRunner[] = [];
  readonly #children: Child[] = [];
  readonly #chains: Chain[] = [];
  #owners = 0;
  server!: BorrowedRedis;
  redis!: Redis;
  journal!: Journal;
  chain!: Devnet;
  lane!: LaneId;
  privateKey!: Hex;
  firstNonce = 0;
  troubles: unknown[] = [];

  /** @param own a Redis that the test kills or configures */
  static async start(options: ChainOptions = {}, own?: BorrowedRedis): Promise<LaneFixture> {
    const fixture = new LaneFixture();
    await fixture.open(options, own);
    return fixture;
  }

  async open(options: ChainOptions = {}, own?: BorrowedRedis): Promise<void> {
    [this.server, this.chain] = await Promise.all([own ?? borrowRedis(), startChain(options)]);
    this.redis = new Redis(this.server.url);
    this.redis.on('error', () => undefined);
    this.journal = new Journal({ redis: this.redis, timeoutMs: 30_000 });
    await this.journal.open();
  }

  async stop(): Promise<void> {
    this.redis.disconnect();
    await Promise.all([this.server.stop(), this.chain.stop()]);
  }

  /** A new wallet with the given nonce and balance, and its adopted lane. */
  async useNewWallet({ balance = 10n ** 20n, nonce = 41 }: { balance?: bigint | undefined; nonce?: number } = {}) {
    this.privateKey = `0x${randomBytes(32).toString('hex')}`;
    const address = privateKeyToAddress(this.privateKey);
    this.lane = createLaneId(this.chain.chainId, address);
    this.firstNonce = nonce;
    this.troubles = [];
    await this.setBalance(balance);
    await this.rpc('anvil_setNonce', [address, `0x${nonce.toString(16)}`]);
    await this.journal.adopt(this.lane, { pendingNonce: nonce });
  }

  async endWorkers(): Promise<void> {
    await Promise.all(this.#runners.splice(0).map((runner) => runner.stop()));
    await Promise.all(this.#children.splice(0).map((child) => child.end('SIGKILL')));
    await Promise.all(this.#chains.splice(0).map((chain) => chain.close()));
  }

  rpc(method: string, params: unknown[] = []): Promise<unknown> {
    return callRpc(this.chain.rpcUrl, method, params);
  }

  setBalance(wei: bigint): Promise<unknown> {
    return this.rpc('anvil_setBalance', [this.lane.address, `0x${wei.toString(16)}`]);
  }

  request(input: Partial<TransferInput> = {}): SubmitRequest {
    return {
      lane: this.lane,
      operation: 'transfer',
      input: { receivers: [RECEIVER], ...input },
      wallet: 'main',
      keyId: 'key-1',
      idempotencyKey: randomBytes(8).toString('hex'),
      fingerprint: 'print',
    };
  }

  async submit(input: Partial<TransferInput> = {}): Promise<string> {
    const result = await this.journal.submit(this.request(input));
    if (result.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(result)}`);
    return result.jobId;
  }

  /** A transaction by another program that has the wallet's key: no journal knows it. */
  async sendForeign(nonce: number): Promise<void> {
    const raw = await privateKeyToAccount(this.privateKey).signTransaction({
      chainId: this.chain.chainId,
      type: 'eip1559',
      nonce,
      to: RECEIVER,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    await this.rpc('eth_sendRawTransaction', [raw]);
  }

  /** A worker in this process. It gives its lease back when it stops, so that a long one, renewed in time, delays no other. */
  startRunner(
    settings: Partial<LaneSettings> = {},
    changes: Partial<LaneRunnerOptions> & { rpcUrls?: string[] } = {},
  ): LaneRunner {
    const { rpcUrls = [this.chain.rpcUrl], ...others } = changes;
    const chain = new Chain({ chainId: this.chain.chainId, rpcUrls, timeoutMs: 5000 });
    this.#chains.push(chain);
    const runner = new LaneRunner({
      journal: this.journal,
      chain,
      signer: createKeySigner(this.privateKey),
      planner: transferPlanner,
      judgeStep: () => Promise.resolve({ outcome: 'done' }),
      owner: `runner-${++this.#owners}`,
      settings: { ...QUICK, leaseMs: 3_000, ...settings },
      onTrouble: (error) => this.troubles.push(error),
      ...others,
    });
    this.#runners.push(runner);
    runner.start();
    return runner;
  }

  /** A worker in a process of its own. */
  async startWorker(
    changes: Partial<Pick<WorkerTask, 'crash' | 'launch' | 'rpcUrls' | 'submit'>> & {
      settings?: NumberSettings;
    } = {},
  ): Promise<Child> {
    const { settings, ...others } = changes;
    const task: WorkerTask = {
      redisUrl: this.server.url,
      rpcUrls: [this.chain.rpcUrl],
      chainId: this.chain.chainId,
      privateKey: this.privateKey,
      owner: `worker-${++this.#owners}`,
      settings: Object.fromEntries(
        Object.entries({ ...QUICK, ...settings }).map(([name, value]) => [name, `${value}`]),
      ),
      crash: null,
      submit: null,
      launch: null,
      ...others,
    };
    const child = await startChild({
      name: task.owner,
      command: process.execPath,
      args: [await bundleProgram('libs/journal/test/lane-worker.ts')],
      env: { ...process.env, TASK: JSON.stringify(task) },
    });
    this.#children.push(child);
    return child;
  }

  /** Ids of all jobs of the wallet, newest first. */
  async listJobs(): Promise<string[]> {
    return (await this.journal.listJobs({ lanes: [this.lane] })).jobs.map(({ id }) => id);
  }

  async readJob(jobId: string): Promise<JobRecord> {
    const job = await this.journal.readJob(jobId);
    if (!job) throw new Error(`there is no job ${jobId}`);
    return job;
  }

  async waitForState(jobId: string, state: JobRecord['state']): Promise<JobRecord> {
    await waitFor(`job ${jobId} is ${state}`, async () => (await this.readJob(jobId)).state === state);
    return this.readJob(jobId);
  }

  /** Waits until every job has ended. */
  async waitForEnds(jobIds: readonly string[]): Promise<JobRecord[]> {
    for (const jobId of jobIds) {
      await waitFor(`job ${jobId} ends`, async () => !isOpen((await this.readJob(jobId)).state));
    }
    return Promise.all(jobIds.map((jobId) => this.readJob(jobId)));
  }

  async readEvents(): Promise<JobEvent[]> {
    const events: JobEvent[] = [];
    for (;;) {
      const more = await this.journal.outbox.read(this.lane, { after: events.at(-1)?.sequence ?? 0 });
      if (more.length === 0) return events;
      events.push(...more);
    }
  }

  /** Every transaction of the wallet on the current chain, by nonce. */
  async readMined(): Promise<MinedTransaction[]> {
    const head = Number(await this.rpc('eth_blockNumber'));
    const blocks = (await callRpcBatch(
      this.chain.rpcUrl,
      Array.from({ length: head + 1 }, (_, number) => ({
        method: 'eth_getBlockByNumber',
        params: [`0x${number.toString(16)}`, true],
      })),
    )) as { transactions: (Omit<MinedTransaction, 'nonce'> & { nonce: Hex })[] }[];
    return blocks
      .flatMap(({ transactions }) => transactions)
      .filter(({ from }) => from === this.lane.address)
      .map(({ from, to, nonce, input, hash }) => ({ from, to, nonce: Number(nonce), input, hash }))
      .sort((a, b) => a.nonce - b.nonce);
  }
}

interface UsedLanes {
  balance?: bigint;
  /** Default: a borrowed one. */
  startRedis?: () => Promise<BorrowedRedis>;
}

/** The fixture for the tests of a file: before each a new wallet, after each no worker and no pending transaction. */
export function useLanes({ balance, startRedis }: UsedLanes = {}): LaneFixture {
  const fixture = new LaneFixture();
  beforeAll(async () => fixture.open({}, await startRedis?.()));
  beforeEach(() => fixture.useNewWallet({ balance }));
  afterEach(async () => {
    await fixture.endWorkers();
    await fixture.rpc('anvil_dropAllTransactions');
    await fixture.rpc('evm_setAutomine', [true]);
  });
  afterAll(() => fixture.stop());
  return fixture;
}

/** Beside the fixture a proxy before its chain, which forwards everything again after each test. */
export function useProxiedLanes(used: UsedLanes & { path?: string } = {}): { fixture: LaneFixture; proxy: RpcProxy } {
  const [fixture, proxy] = [useLanes(used), {} as RpcProxy];
  beforeAll(async () => Object.assign(proxy, await startRpcProxy(fixture.chain.rpcUrl, used.path)));
  afterEach(() => proxy.reset());
  afterAll(() => proxy.stop());
  return { fixture, proxy };
}
