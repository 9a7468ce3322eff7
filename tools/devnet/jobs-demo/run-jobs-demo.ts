import { createJobsClient } from '@tollgate/client/jobs';
import { getAddress } from 'viem';

import { startChain, type DevnetWithProtocols } from '../chain/chain.js';
import { createTracer } from '../chain/trace-transaction.js';
import { playToEnd, type DemoParts } from '../demo/play-to-end.js';
import { showHeading, showTable } from '../demo/show-job.js';
import { callRpc } from '../processes/json-rpc.js';
import { followEvents } from '../stack/follow-events.js';
import type { Stack } from '../stack/stack.js';
import { startWebhookTarget, type WebhookTarget } from '../stack/webhook-target.js';
import { assertDelivered, registerWebhook, showDelivery } from './check-webhook.js';
import { JOBS_OF_EACH_KIND, LARGE_JOB, REFUSED_JOB } from './list-jobs.js';
import { finishJob, playJob, submitJob, type DemoStage, type PlayedJob } from './play-job.js';

const RECEIVER = getAddress('0x00000000000000000000000000000000000a11ce');

/** Shows one job of each kind from POST to event, two that fail, and the webhooks. Resolves with the exit code. */
export function runJobsDemo(): Promise<number> {
  return playToEnd(async ({ keep, startServices }) => {
    const chain = keep(await startChain({ protocols: true }));
    const stack = await startServices({ chain, agentWorkers: 1, env: { LANE_POLL_MS: '50' } });
    await playAll(stack, chain, keep(await startWebhookTarget()), keep);
  });
}

async function playAll(
  stack: Stack,
  chain: DevnetWithProtocols,
  target: WebhookTarget,
  keep: DemoParts['keep'],
): Promise<void> {
  const { agents, baseUrl } = stack;
  const [wallet] = agents?.wallets ?? [];
  if (!agents || !wallet) throw new Error('the stack has no agent wallet');
  const { token } = await agents.createApiKey(['submit', 'read']);
  const webhookSecret = await registerWebhook(baseUrl, token, target.url);
  const follower = followEvents({ baseUrl, token });
  keep(follower);
  await follower.ready;
  const stage: DemoStage = {
    jobs: createJobsClient({ baseUrl, apiKey: token }),
    place: { chain, weatherUrl: `${baseUrl}/api/weather`, wallet, receiver: RECEIVER },
    follower,
    trace: await createTracer(chain),
  };

  const played: PlayedJob[] = [];
  for (const [index, job] of JOBS_OF_EACH_KIND.entries()) {
    showHeading(index + 1, `${job.operation}: ${job.title}`);
    played.push(await playJob(stage, job));
  }
  showHeading(played.length + 1, REFUSED_JOB.title);
  played.push(await playJob(stage, REFUSED_JOB));
  showHeading(
    played.length + 1,
    'Two jobs that each send more than half of a balance, in one block: the second reverts',
  );
  played.push(...(await playPair(stage)));

  showHeading('✉', 'Every event came as a signed webhook too, under the id that the stream gave it');
  await showWebhooks(webhookSecret, target, played);
  showSummary(played);
}

/** No block is made until both are sent; each was planned as if it were alone. */
async function playPair(stage: DemoStage): Promise<PlayedJob[]> {
  const { rpcUrl } = stage.place.chain;
  await callRpc(rpcUrl, 'evm_setAutomine', [false]);
  const first = await submitJob(stage, LARGE_JOB);
  await untilSent(stage, first.id);
  const second = await submitJob(stage, {
    ...LARGE_JOB,
    fails: { state: 'REVERTED', code: 'INSUFFICIENT_BALANCE' },
  });
  await untilSent(stage, second.id);
  await callRpc(rpcUrl, 'evm_mine');
  await callRpc(rpcUrl, 'evm_setAutomine', [true]);
  const played = await finishJob(stage, first);
  console.log('');
  return [played, await finishJob(stage, second)];
}

async function untilSent({ follower }: DemoStage, id: string): Promise<void> {
  const giveUpMs = Date.now() + 30_000;
  while (!follower.events.some(({ jobId, type }) => jobId === id && type === 'transactionSubmitted')) {
    if (Date.now() > giveUpMs) throw new Error(`job ${id} was not sent within half a minute`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function showWebhooks(secret: string, target: WebhookTarget, played: readonly PlayedJob[]): Promise<void> {
  const events = played.flatMap((one) => one.events);
  await assertDelivered(secret, target, events);
  const sample = target.taken.find(({ body }) => body.includes('transactionFailed')) ?? target.taken.at(-1);
  if (sample) showDelivery(sample);
  console.log(`\n    ${target.taken.length} deliveries of ${events.length} events, each with the right signature`);
}

function showSummary(played: readonly PlayedJob[]): void {
  console.log('\n━━ Summary\n');
  showTable(
    ['', 'operation', 'ended as', 'events', 'transactions', 'gas', 'took'],
    played.map(({ job, view, events, traces, tookMs }, index) => [
      String(index + 1).padStart(2),
      job.operation,
      view.state,
      String(events.length),
      String(traces.length),
      traces.reduce((sum, { gasUsed }) => sum + gasUsed, 0n).toLocaleString('en-US'),
      `${(tookMs / 1000).toFixed(2)} s`,
    ]),
    '  ',
  );
  console.log('\nEvery check passed.');
}
