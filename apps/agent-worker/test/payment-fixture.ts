import type { SpendingPolicy } from '@tollgate/agent-kit/planner';
import type { JobRecord } from '@tollgate/journal';
import type { AgentAnswerView, Hex } from '@tollgate/protocol';

import { LaneFixture } from '../../../libs/journal/test/lane-fixture.js';
import { listTransfers, startPaidServer, type PaidServer } from '../../../packages/client/test/paid-server.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import type { PaymentPlanner, PaymentPlannerOptions } from '../src/payments/payment-planner.js';
import { createPayingWallet } from './paying-lane.js';

export interface PaymentInput {
  url: string;
  maxAmount?: string;
}

/** A lane that pays, and a paid server that follows the documented protocol; a new wallet and server for each test. */
export class PaymentFixture {
  #planners: PaymentPlanner[] = [];
  server!: PaidServer;

  private constructor(readonly lane: LaneFixture) {}

  static async start(): Promise<PaymentFixture> {
    return new PaymentFixture(await LaneFixture.start());
  }

  stop(): Promise<void> {
    return this.lane.stop();
  }

  async begin(): Promise<void> {
    await this.lane.useNewWallet();
    await transferTokens(this.lane.chain, { to: this.lane.lane.address, amountBaseUnits: 1_000_000n });
    this.server = await startPaidServer(this.lane.chain);
  }

  async end(): Promise<void> {
    await this.lane.endWorkers();
    await this.stopPlanners();
    await this.server.close();
  }

  async stopPlanners(): Promise<void> {
    await Promise.all(this.#planners.splice(0).map((planner) => planner.stop()));
  }

  createPlanner(changes: Partial<PaymentPlannerOptions> = {}): PaymentPlanner {
    return this.#createWallet(changes, {}).payments;
  }

  startWorker(changes: Partial<PaymentPlannerOptions> = {}, policy: SpendingPolicy = {}): void {
    const { wallet } = this.#createWallet(changes, policy);
    this.lane.startRunner({}, { planner: wallet, judgeStep: wallet.judgeStep });
  }

  #createWallet(changes: Partial<PaymentPlannerOptions>, policy: SpendingPolicy) {
    const { chain, lane, journal } = this.lane;
    const created = createPayingWallet({ rpcUrl: chain.rpcUrl, address: lane.address, journal, policy }, changes);
    this.#planners.push(created.payments);
    return created;
  }

  async submit(input: PaymentInput): Promise<string> {
    const result = await this.lane.journal.submit({
      ...this.lane.request(),
      operation: 'payment',
      input: { ...input },
    });
    if (result.outcome !== 'accepted') throw new Error(`not accepted: ${result.outcome}`);
    return result.jobId;
  }

  /** A job that no runner works on, and the right to write to it. */
  async hold(input: PaymentInput): Promise<{ job: () => Promise<JobRecord>; token: number }> {
    const jobId = await this.submit(input);
    const lease = await this.lane.journal.takeLease(this.lane.lane, 'test', 600_000);
    if (!lease) throw new Error('another process holds the lane');
    return { job: () => this.lane.readJob(jobId), token: lease.token };
  }

  /** Hashes of the wallet's transfers to the server's receiver, oldest first. */
  transfers(): Promise<Hex[]> {
    return listTransfers(this.lane.chain, this.lane.lane.address);
  }
}

export function readAnswer({ details }: JobRecord): AgentAnswerView {
  return details['answer'] as unknown as AgentAnswerView;
}
