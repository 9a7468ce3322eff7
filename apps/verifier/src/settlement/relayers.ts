import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { hostname } from 'node:os';

import { RequestReplyServer, SETTLE_QUEUE, SETTLE_SIGNED_PAYMENT } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';
import {
  createLaneId,
  LaneRunner,
  LaneShare,
  type Chain,
  type Journal,
  type LaneId,
  type LaneSettings,
  type LaneSigner,
} from '@tollgate/transactions';

import type { RpcBatcher } from '../chain/rpc-batcher.js';
import type { JobWatch } from './job-watch.js';
import { parseSettleRequest } from './parse-settle-request.js';
import { pause } from './pause.js';
import type { AskedRelayer, PermitSettlements } from './permit-settlements.js';
import { Relayer } from './relayer.js';
import { SettlementPlanner } from './settlement-planner.js';
import type { SettlementRecords } from './settlement-records.js';
import type { Settlements } from './settlements.js';

export interface RelayersOptions {
  signers: readonly LaneSigner[];
  journal: Journal;
  chain: Chain;
  batcher: RpcBatcher;
  records: SettlementRecords;
  jobs: JobWatch;
  settlements: Settlements;
  permits: PermitSettlements;
  settings: Partial<LaneSettings>;
  gasCap: bigint;
  queue: { redisUrl: string; maxInFlight: number; closeTimeoutMs: number };
  nowMs: () => number;
  onTrouble: (relayer: Hex, error: unknown) => void;
}

const ADOPT_AGAIN_MS = 1_000;

/** The relayers of this process; each is worked on whenever no other process does. */
export class Relayers {
  readonly #owner = `${hostname().slice(0, 64)}-${randomBytes(8).toString('hex')}`;
  readonly #share = new LaneShare();
  readonly #runners: readonly LaneRunner[];

  constructor(private readonly options: RelayersOptions) {
    this.#runners = options.signers.map((signer) => this.#createRunner(signer));
  }

  get addresses(): Hex[] {
    return this.#runners.map(({ lane }) => lane.address);
  }

  start(): void {
    for (const runner of this.#runners) runner.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.stop()));
  }

  #createRunner(signer: LaneSigner): LaneRunner {
    const { journal, chain, batcher, gasCap, jobs, records, settings, nowMs, onTrouble } = this.options;
    const lane = createLaneId(chain.chainId, signer.address);
    const report = (error: unknown) => onTrouble(lane.address, error);
    const wake = (jobId: string) => runner.wake(jobId);
    const relayer = new Relayer({ lane, journal, records, jobs, wake, onTrouble: report });
    const runner: LaneRunner = new LaneRunner({
      journal,
      chain,
      signer,
      settings,
      planner: new SettlementPlanner({ batcher, relayer: lane.address, gasCap, nowMs }),
      judgeStep: (job, _, receipt) => {
        jobs.noteMined(job.id, receipt);
        return Promise.resolve({ outcome: 'done' });
      },
      owner: this.#owner,
      share: this.#share,
      attend: async ({ signal }) => {
        await this.#adopt(lane, signal);
        if (!signal.aborted) await this.#serve(relayer, { lane, wake }, signal);
      },
      onTrouble: report,
    });
    return runner;
  }

  /**
   * Sets the nonce counter after the chain, without an operator: what a forgotten job has sent can be sent again and
   * charges nobody twice, since a token takes each authorization once.
   */
  async #adopt(lane: LaneId, signal: AbortSignal): Promise<void> {
    const { journal, chain } = this.options;
    while (!signal.aborted && (await journal.readLane(lane)).nextNonce === null) {
      await journal.adopt(lane, { pendingNonce: await chain.readPendingNonce(lane.address) });
      await pause(ADOPT_AGAIN_MS, signal);
    }
  }

  /** Only who holds a relayer takes requests: others could do nothing for them. */
  async #serve(relayer: Relayer, asked: AskedRelayer, signal: AbortSignal): Promise<void> {
    const { queue, settlements, permits } = this.options;
    const server = new RequestReplyServer({ ...queue, queue: SETTLE_QUEUE });
    server.addHandler(SETTLE_SIGNED_PAYMENT, (message) => {
      const request = parseSettleRequest(message);
      const { payment } = request;
      return payment.kind === 'permit2'
        ? permits.settle({ ...request, payment }, asked, signal)
        : settlements.settle(request, relayer, signal);
    });
    const opened = await listen(server);
    if (opened && !signal.aborted) await once(signal, 'abort');
    await server.close();
    // The lane's runner begins again.
    if (!opened) throw new Error(`The queue ${SETTLE_QUEUE} cannot be served: its Redis does not answer.`);
  }
}

async function listen(server: RequestReplyServer): Promise<boolean> {
  let isOpen = true;
  await server.listen((error) => (isOpen = error === undefined));
  return isOpen;
}
