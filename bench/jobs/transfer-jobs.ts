import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  Chain,
  createKeySigner,
  createLaneId,
  LaneRunner,
  type JobPlanner,
  type Journal,
  type LaneId,
  type LaneRunnerOptions,
  type LaneSettings,
  type SubmitRequest,
} from '@tollgate/journal';

import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { noteProgress } from '../fail-when-stalled.js';
import { RECEIVER, TRANSFER_GAS } from './bench-wallet.js';

/** A real chain is looked at less often, and its nodes keep fewer transactions of one account. */
const BENCH_SETTINGS: Partial<LaneSettings> = { pollMs: 20, maxInFlight: 4096, jobsAtOnce: 128 };

const TRANSFER = { operation: 'transfer', input: { to: RECEIVER, amount: '0.000000000000000001' } };

/** Plans one transfer of one wei, without any look-up. */
export const transferPlanner: JobPlanner = {
  plan: () =>
    Promise.resolve({
      steps: [{ label: 'Transfer 1 wei', to: RECEIVER, data: '0x', value: 1n, gas: TRANSFER_GAS }],
      preview: { text: 'Transfer 1 wei' },
      floorsHash: 'none',
      needsApproval: false,
    }),
};

/** A transfer, or another operation. */
export function createRequest(lane: LaneId, job: Pick<SubmitRequest, 'operation' | 'input'> = TRANSFER): SubmitRequest {
  return {
    lane,
    ...job,
    wallet: 'main',
    keyId: 'bench',
    idempotencyKey: randomBytes(12).toString('hex'),
    fingerprint: 'bench',
  };
}

export async function adoptLane(journal: Journal, chainId: number, wallet: DevnetAccount): Promise<LaneId> {
  const lane = createLaneId(chainId, wallet.address);
  await journal.adopt(lane, { pendingNonce: 0 });
  return lane;
}

export async function submitJobs(journal: Journal, lane: LaneId, count: number): Promise<string[]> {
  const jobIds: string[] = [];
  for (let first = 0; first < count; first += 200) {
    const results = await Promise.all(
      Array.from({ length: Math.min(200, count - first) }, () => journal.submit(createRequest(lane))),
    );
    for (const result of results) {
      if (result.outcome !== 'accepted') throw new Error(`a job was not accepted: ${JSON.stringify(result)}`);
      jobIds.push(result.jobId);
    }
  }
  return jobIds;
}

/** A runner of transfers in this process; `stop` ends it and its connections. */
export function startRunner(
  { journal, rpcUrl, chainId, wallet }: { journal: Journal; rpcUrl: string; chainId: number; wallet: DevnetAccount },
  changes: Partial<LaneRunnerOptions> = {},
): { runner: LaneRunner; stop: () => Promise<void> } {
  const chain = new Chain({ chainId, rpcUrls: [rpcUrl] });
  const runner = new LaneRunner({
    journal,
    chain,
    signer: createKeySigner(wallet.privateKey),
    planner: transferPlanner,
    judgeStep: () => Promise.resolve({ outcome: 'done' }),
    owner: `bench-${process.pid}-${wallet.address}`,
    onTrouble: (error) => console.error(error),
    ...changes,
    settings: { ...BENCH_SETTINGS, ...changes.settings },
  });
  runner.start();
  return {
    runner,
    stop: async () => {
      await runner.stop();
      await chain.close();
    },
  };
}

/** Until no job of these lanes is open. Any of them that ends is progress: the chain may serve one wallet long before another. */
export async function waitUntilEnded(journal: Journal, lanes: readonly LaneId[]): Promise<void> {
  let before = Infinity;
  for (;;) {
    const states = await Promise.all(lanes.map((lane) => journal.readLane(lane)));
    const openJobs = states.reduce((sum, state) => sum + state.openJobs, 0);
    if (openJobs < before) noteProgress();
    if (openJobs === 0) return;
    before = openJobs;
    await sleep(20);
  }
}
