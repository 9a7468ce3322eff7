// A worker of transfer jobs: a runner for each of the wallets, whichever of their lanes it comes to hold.
import { Journal, LaneShare } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import { privateKeyToAddress } from 'viem/accounts';

import { startRunner } from '../jobs/transfer-jobs.js';

export interface JobWorkerTask {
  redisUrl: string;
  rpcUrl: string;
  chainId: number;
  privateKeys: Hex[];
  leaseMs: number;
}

const { redisUrl, rpcUrl, chainId, privateKeys, leaseMs } = JSON.parse(process.env['TASK'] ?? '') as JobWorkerTask;
const redis = new Redis(redisUrl);
redis.on('error', () => undefined);
const journal = new Journal({ redis, timeoutMs: 30_000 });
const share = new LaneShare();
for (const privateKey of privateKeys) {
  const wallet = { privateKey, address: privateKeyToAddress(privateKey) };
  startRunner({ journal, rpcUrl, chainId, wallet }, { share, settings: { leaseMs } });
}
console.log('ready -');
