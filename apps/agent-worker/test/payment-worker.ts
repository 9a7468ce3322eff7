import { Chain, createKeySigner, Journal, LaneRunner, type LaneSettings } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { createPayingWallet } from './paying-lane.js';

/** A worker for payment jobs in a process of its own, which kills itself at the given crash point. */
export interface PaymentWorkerTask {
  redisUrl: string;
  rpcUrl: string;
  chainId: number;
  privateKey: Hex;
  owner: string;
  settings: Partial<LaneSettings>;
  crashAt: string;
}

const task = JSON.parse(process.env['TASK'] ?? '') as PaymentWorkerTask;
globalThis.tollgateCrashPoint = (point) => {
  if (point !== task.crashAt) return;
  console.log(`crash point ${point}`);
  process.kill(process.pid, 'SIGKILL');
};

const redis = new Redis(task.redisUrl);
redis.on('error', () => undefined);
const journal = new Journal({ redis, timeoutMs: 10_000 });
const chain = new Chain({ chainId: task.chainId, rpcUrls: [task.rpcUrl], timeoutMs: 5000 });
const signer = createKeySigner(task.privateKey);
const { wallet } = createPayingWallet({ rpcUrl: task.rpcUrl, address: signer.address, journal });
const runner = new LaneRunner({
  journal,
  chain,
  signer,
  planner: wallet,
  judgeStep: wallet.judgeStep,
  owner: task.owner,
  settings: task.settings,
  onTrouble: (error) => console.log('trouble:', error instanceof Error ? error.message : error),
});

runner.start();
