import { createJobsClient } from '@tollgate/client/jobs';

import { DEVNET_CONTRACTS } from '../../packages/agent-kit/src/registry/devnet-contracts.js';
import { deriveAgentWallet } from '../../tools/devnet/chain/chain.js';
import { createTracer } from '../../tools/devnet/chain/trace-transaction.js';
import { JOBS_OF_EACH_KIND } from '../../tools/devnet/jobs-demo/list-jobs.js';
import { finishJob, submitJob, type DemoStage } from '../../tools/devnet/jobs-demo/play-job.js';
import { followEvents } from '../../tools/devnet/stack/follow-events.js';

const RECEIVER = '0x00000000000000000000000000000000000a11ce';

export interface ComposeAgents {
  gateway: string;
  rpcUrl: string;
  apiKey: string;
  /** Called now and then while a job is in progress; may kill a worker. */
  disturb: (jobNumber: number) => Promise<void>;
}

/** Runs one job of each kind to its final event, on a stack whose workers are killed meanwhile. */
export async function tryAgentJobs({ gateway, rpcUrl, apiKey, disturb }: ComposeAgents): Promise<void> {
  const follower = followEvents({ baseUrl: gateway, token: apiKey });
  await follower.ready;
  const chain = { rpcUrl, contracts: DEVNET_CONTRACTS };
  const { address } = deriveAgentWallet(0);
  const stage: DemoStage = {
    jobs: createJobsClient({ baseUrl: gateway, apiKey }),
    // As the workers reach it, by its name in their network.
    place: {
      chain,
      weatherUrl: 'http://gateway:4020/api/weather',
      wallet: { name: 'devnet', address },
      receiver: RECEIVER,
    },
    follower,
    trace: await createTracer(chain),
  };
  try {
    for (const [index, job] of JOBS_OF_EACH_KIND.entries()) {
      console.log(`\n  ${job.operation}: ${job.title}`);
      const submitted = await submitJob(stage, job);
      await disturb(index);
      await finishJob(stage, submitted);
    }
  } finally {
    await follower.stop();
  }
}
