import { randomBytes } from 'node:crypto';

import type { SpendingPolicy } from '@tollgate/agent-kit';
import { isOpen, type JobPlanner, type JobRecord, type JsonValue, type LaneRunnerOptions } from '@tollgate/journal';
import type { AgentOperation } from '@tollgate/protocol';
import {
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseEther,
  parseUnits,
  type Hex,
  type PublicClient,
} from 'viem';

import { LaneFixture } from '../../../libs/journal/test/lane-fixture.js';
import { waitFor } from '../../../test/harness/retry.js';
import type { DevnetWithProtocols } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import { ORDINARY_GAS } from '../src/config/lane.environment.js';
import { PaymentPlanner } from '../src/payments/payment-planner.js';
import { createOperationPlanner, type ChainSettings } from '../src/planning/create-operation-planner.js';
import { WalletPlanner } from '../src/planning/wallet-planner.js';

/** The balances of a wallet of these tests: 100 SEI, 10,000 USDC, 20 WSEI, 0.1 WBTC. */
const FUNDS = { SEI: parseEther('100'), USDC: parseUnits('10000', 6), WSEI: parseEther('20'), WBTC: 10_000_000n };

/** Runs before a step is planned, or between its plan and its signature. */
export type Meddling = (when: 'before' | 'after', stepIndex: number) => Promise<void> | void;

export interface PlannerSettings {
  /** The wallet's name; default `main`. */
  name?: string;
  policy?: SpendingPolicy;
  approvalAbove?: Record<string, string>;
  chain?: Partial<ChainSettings>;
}

/**
 * A journal, a chain with all protocols, and a funded wallet per test whose jobs are planned in the same way as by the
 * worker.
 */
export class PlanningFixture {
  readonly #payments: PaymentPlanner[] = [];
  readonly client: PublicClient;

  private constructor(readonly lanes: LaneFixture) {
    this.client = createPublicClient({ transport: http(this.chain.rpcUrl), cacheTime: 0 });
  }

  static async start(): Promise<PlanningFixture> {
    return new PlanningFixture(await LaneFixture.start({ protocols: true }));
  }

  stop(): Promise<void> {
    return this.lanes.stop();
  }

  get chain(): DevnetWithProtocols {
    const { chain } = this.lanes;
    if (!chain.contracts) throw new Error('the chain has no protocols');
    return { ...chain, contracts: chain.contracts };
  }

  get address(): Hex {
    return this.lanes.lane.address;
  }

  async useFundedWallet(): Promise<void> {
    await this.lanes.useNewWallet({ balance: FUNDS.SEI });
    const from = this.chain.accounts.at(-1)?.address;
    for (const symbol of ['USDC', 'WSEI', 'WBTC'] as const) {
      const args = [this.address, FUNDS[symbol]] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
      await sendTransaction(this.chain, { from, to: this.chain.contracts.tokens[symbol], data });
    }
  }

  /** Sends a transaction of the wallet that belongs to no job; the lane must be idle. */
  async sendAsWallet(to: Hex, data: Hex): Promise<void> {
    await this.lanes.rpc('anvil_impersonateAccount', [this.address]);
    await sendTransaction(this.chain, { from: this.address, to, data });
    const pendingNonce = Number(await this.lanes.rpc('eth_getTransactionCount', [this.address, 'pending']));
    await this.lanes.journal.adopt(this.lanes.lane, { pendingNonce });
  }

  createPlanner({ name = 'main', policy = {}, approvalAbove = {}, chain = {} }: PlannerSettings = {}): WalletPlanner {
    const wallet = { name, address: this.address, policy, approvalAbove };
    const kit = createOperationPlanner(wallet, { rpcUrls: [this.chain.rpcUrl], ...chain });
    const payments = new PaymentPlanner({
      journal: this.lanes.journal,
      readContext: () => kit.readContext(),
      allowPrivateTargets: true,
    });
    this.#payments.push(payments);
    return new WalletPlanner({ wallet, kit, payments });
  }

  /** Runs the wallet's lane in this process. */
  startLane({ meddle, ...settings }: PlannerSettings & { meddle?: Meddling } = {}): WalletPlanner {
    const planner = this.createPlanner(settings);
    const judgeStep: LaneRunnerOptions['judgeStep'] = (...args) => planner.judgeStep(...args);
    const meddled: JobPlanner = {
      policy: planner.policy,
      undo: (job) => planner.undo(job),
      plan: async (job, context) => {
        await meddle?.('before', context.stepIndex);
        const plan = await planner.plan(job, context);
        await meddle?.('after', context.stepIndex);
        return plan;
      },
    };
    this.lanes.startRunner(
      { planRetryMs: 1, longestPlanRetryMs: 20, ordinaryGas: ORDINARY_GAS },
      { planner: meddled, judgeStep },
    );
    return planner;
  }

  async endLanes(): Promise<void> {
    await this.lanes.endWorkers();
    await Promise.all(this.#payments.splice(0).map((payments) => payments.stop()));
  }

  async submit(operation: AgentOperation, input: Readonly<Record<string, JsonValue>>): Promise<string> {
    const request = { ...this.lanes.request(), operation, input, idempotencyKey: randomBytes(8).toString('hex') };
    const result = await this.lanes.journal.submit(request);
    if (result.outcome !== 'accepted') throw new Error(`not accepted: ${result.outcome}`);
    return result.jobId;
  }

  /** Submits a job and waits for its end. */
  async run(operation: AgentOperation, input: Readonly<Record<string, JsonValue>>): Promise<JobRecord> {
    const [job] = await this.lanes.waitForEnds([await this.submit(operation, input)]);
    if (!job) throw new Error('the job does not exist');
    return job;
  }

  /** Like `run`, with a new worker for each step. */
  async runByManyWorkers(operation: AgentOperation, input: Readonly<Record<string, JsonValue>>): Promise<JobRecord> {
    await this.endLanes();
    const jobId = await this.submit(operation, input);
    for (;;) {
      const { stepIndex } = await this.lanes.readJob(jobId);
      this.startLane();
      await waitFor(`job ${jobId} continues`, async () => {
        const job = await this.lanes.readJob(jobId);
        return !isOpen(job.state) || job.stepIndex > stepIndex;
      });
      await this.endLanes();
      const job = await this.lanes.readJob(jobId);
      if (!isOpen(job.state)) return job;
    }
  }

  /** How often each step's call was mined, by label; other transactions of the wallet count as `other`. */
  async countMined(jobs: readonly JobRecord[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    const labels = new Map(
      jobs.flatMap(({ steps }) => steps.flatMap(({ label, mined }) => (mined ? [[mined.hash, label] as const] : []))),
    );
    for (const { hash } of await this.lanes.readMined()) {
      const label = labels.get(hash) ?? 'other';
      counts[label] = (counts[label] ?? 0) + 1;
    }
    return counts;
  }

  readBalance(token: Hex, owner: Hex = this.address): Promise<bigint> {
    return this.client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
  }

  readAllowance(token: Hex, spender: Hex): Promise<bigint> {
    const args = [this.address, spender] as const;
    return this.client.readContract({ address: token, abi: erc20Abi, functionName: 'allowance', args });
  }
}
