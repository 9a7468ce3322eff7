import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { waitFor } from '../../../test/harness/retry.js';
import { Chain } from '../src/chain/chain.js';
import type { SubmitRequest } from '../src/jobs/transition.js';
import type { LaneSettings } from '../src/lanes/lane-settings.js';
import { LaneRunner } from '../src/runner/lane-runner.js';
import { createKeySigner } from '../src/signer/create-key-signer.js';
import { acceptJob } from '../src/store/accept-job.js';
import { Journal } from '../src/store/journal.js';
import { planTransfer, transferPlanner } from './transfer-planner.js';

/** A worker in a process of its own that kills or stops itself with a signal at the given crash point. */
export interface WorkerTask {
  redisUrl: string;
  rpcUrls: string[];
  chainId: number;
  privateKey: Hex;
  owner: string;
  settings: Partial<Record<keyof LaneSettings, string>>;
  crash: { at: string; signal: NodeJS.Signals } | null;
  /** Submitted before the runner starts. */
  submit: SubmitRequest | null;
  /** Launched once the runner holds the lane: a transfer with a mark of its own. */
  launch: string | null;
}

const task = JSON.parse(process.env['TASK'] ?? '') as WorkerTask;
const { crash } = task;
let isPending = crash !== null;
globalThis.tollgateCrashPoint = (point) => {
  if (!isPending || point !== crash?.at) return;
  isPending = false;
  console.log(`crash point ${point}`);
  process.kill(process.pid, crash.signal);
};

const redis = new Redis(task.redisUrl);
redis.on('error', () => undefined);
const journal = new Journal({ redis, timeoutMs: 10_000 });
const chain = new Chain({ chainId: task.chainId, rpcUrls: task.rpcUrls, timeoutMs: 5000 });
const runner = new LaneRunner({
  journal,
  chain,
  signer: createKeySigner(task.privateKey),
  planner: transferPlanner,
  judgeStep: () => Promise.resolve({ outcome: 'done' }),
  owner: task.owner,
  settings: readSettings(task.settings),
  onTrouble: (error) => console.log('trouble:', error instanceof Error ? error.message : error),
});

process.once('SIGTERM', () => {
  void runner.stop().then(async () => {
    redis.disconnect();
    await chain.close();
  });
});
void begin();

async function begin(): Promise<void> {
  runner.start();
  if (task.submit) await acceptJob({ journal, queue: runner }, task.submit);
  if (task.launch) {
    await waitFor('the runner holds the lane and has looked at it', () => Promise.resolve(runner.hasRoom));
    await runner.launch(planTransfer(runner.lane, task.launch));
  }
  console.log('worker ready');
}

function readSettings(settings: WorkerTask['settings']): Partial<LaneSettings> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, name.includes('Fee') ? BigInt(value) : Number(value)]),
  );
}
