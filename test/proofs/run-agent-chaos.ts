import { setTimeout as sleep } from 'node:timers/promises';

import { verifyWebhookSignature } from '@tollgate/client/jobs';
import type { AgentJobEvent, AgentJobView } from '@tollgate/protocol';

import { rememberSettled, startSigningShop } from '../../packages/client/test/signing-shop.js';
import { startChain, type DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { registerWebhook } from '../../tools/devnet/jobs-demo/check-webhook.js';
import { followEvents } from '../../tools/devnet/stack/follow-events.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import {
  startWebhookTarget,
  type WebhookAnswer,
  type WebhookDelivery,
} from '../../tools/devnet/stack/webhook-target.js';
import { createAgentClient, type AgentClient } from '../harness/agents/agent-client.js';
import { misbehave } from '../harness/network/lose-replies.js';
import { startRpcProxy } from '../harness/network/rpc-proxy.js';
import { createRandom, type Random } from '../harness/random.js';
import { isEnd, judgeAgentChaos } from './judge-agent-chaos.js';
import { planAgentJobs, type ChaosJob } from './plan-agent-jobs.js';
import { watchJobs, type JobWatch } from './watch-jobs.js';

export interface AgentChaosPlan {
  seed: number;
  jobs: number;
  workers: number;
  /** The number of kills, one after the other, of a worker or of Redis; each gets its share of the jobs. */
  kills: number;
  /** Called with lines of progress. */
  onProgress: (line: string) => void;
}

export interface AgentChaosReport {
  /** Violations, as text. */
  faults: string[];
  /** The number of jobs by final state. */
  states: Record<string, number>;
  transactions: number;
  kills: string[];
  refusedPosts: number;
  tookMs: number;
}

const WALLETS = ['north', 'east', 'south', 'west'];
const CLIENTS = 8;
/** The most jobs that are submitted and not ended; further ones would only wait. */
const MOST_OPEN = 120;
const REPORTED_WITHIN_MS = 180_000;

/** Carries out jobs of several wallets while workers and Redis are killed and the RPC server loses replies, refuses and lags. */
export async function runAgentChaos(plan: AgentChaosPlan): Promise<AgentChaosReport> {
  const startedAtMs = Date.now();
  const chain = await startChain({ protocols: true, blockTimeSeconds: 1 });
  const proxy = await startRpcProxy(chain.rpcUrl, '', false);
  proxy.intercept('*', misbehave(createRandom(plan.seed + 1)));
  const target = await startWebhookTarget(failAtTimes(createRandom(plan.seed + 2)));
  const shop = await startSigningShop(chain, 2);
  rememberSettled(shop);
  const parts: { stop(): Promise<void> }[] = [chain, proxy, target, { stop: () => shop.close() }];
  try {
    const stack = await startChaosStack(chain, proxy.rpcUrl, plan.workers);
    parts.push(stack);
    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    const client = createAgentClient(stack.baseUrl, token);
    const webhookSecret = await registerWebhook(stack.baseUrl, token, target.url);
    const follower = followEvents({ baseUrl: stack.baseUrl, token });
    parts.push(follower);
    await follower.ready;
    const watch = await watchJobs(stack, plan);
    parts.push(watch);

    const random = createRandom(plan.seed);
    const jobs = planAgentJobs(chain, { count: plan.jobs, wallets: WALLETS, random, shopUrl: shop.url });
    const kills: string[] = [];
    const isAhead = (index: number) => index * plan.kills > (kills.length + 2) * plan.jobs;
    const [ids] = await Promise.all([
      submitAll(client, jobs, { watch, isAhead }),
      killThings(stack, { plan, random, watch, kills }),
    ]);
    await watch.untilEnded(plan.jobs);
    const readPosted = () => target.taken.map(({ body }) => JSON.parse(body) as AgentJobEvent);
    await untilReported(ids, { SSE: () => follower.events, webhook: readPosted }, plan.onProgress);

    const views: AgentJobView[] = [];
    for (const id of ids) views.push(await client.read(id));
    const judged = await judgeAgentChaos({
      chain,
      wallets: stack.agents!.wallets,
      redisUrl: stack.redis.url,
      jobs: jobs.map((job, index) => ({ job, view: views[index]! })),
      streamed: follower.events,
      posted: readPosted(),
    });
    for (const { headers, body } of target.taken) {
      // They came during the whole run, so their age does not matter.
      await verifyWebhookSignature(headers, body, webhookSecret, { toleranceMs: Infinity }).catch((error: unknown) =>
        judged.faults.push(`a webhook is not authentic (${String(error)}): ${body}`),
      );
    }
    return { ...judged, kills, refusedPosts: target.refused, tookMs: Date.now() - startedAtMs };
  } catch (error) {
    const logs = parts.map((part) => ('logs' in part ? (part as Stack).logs() : '')).join('\n');
    throw new Error(`chaos with seed ${plan.seed}: ${String(error)}\n${logs}`, { cause: error });
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
}

function startChaosStack(chain: DevnetWithProtocols, rpcUrl: string, agentWorkers: number): Promise<Stack> {
  return startStack({
    chain,
    agentWorkers,
    agentWallets: Object.fromEntries(WALLETS.map((name) => [name, {}])),
    env: {
      RPC_URL: rpcUrl,
      RPC_TIMEOUT_MS: '2000',
      LANE_POLL_MS: '100',
      LANE_LEASE_MS: '1500',
      RESEND_AFTER_MS: '1000',
      REPLACE_AFTER_MS: '6000',
      WEBHOOK_FIRST_RETRY_MS: '200',
      WEBHOOK_LONGEST_RETRY_MS: '2000',
    },
  });
}

function failAtTimes(random: Random): (delivery: WebhookDelivery) => WebhookAnswer {
  return () => {
    const fate = random.below(20);
    if (fate < 3) return 503;
    return fate < 5 ? 'broken' : 204;
  };
}

/**
 * Submits each job under its own key, and repeats while the gateway cannot reach Redis. Returns the ids in the jobs'
 * order.
 */
async function submitAll(
  client: AgentClient,
  jobs: readonly ChaosJob[],
  { watch, isAhead }: { watch: JobWatch; isAhead: (index: number) => boolean },
): Promise<string[]> {
  const ids: string[] = [];
  const cancels: Promise<void>[] = [];
  let next = 0;
  const submitNext = async () => {
    for (let index = next++; index < jobs.length; index = next++) {
      const { request, idempotencyKey, cancelAfterMs } = jobs[index]!;
      // The jobs must not be over before the kills are.
      while (watch.openJobs >= MOST_OPEN || isAhead(index)) await sleep(20);
      const id = await untilTaken(() => client.submit(request, idempotencyKey));
      ids[index] = id;
      watch.submitted += 1;
      if (cancelAfterMs !== null) cancels.push(sleep(cancelAfterMs).then(() => cancelJob(client, id)));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, submitNext));
  await Promise.all(cancels);
  return ids;
}

/** 409 means that it is too late to cancel the job. */
async function cancelJob(client: AgentClient, id: string): Promise<void> {
  await untilTaken(async () => {
    const response = await client.send('POST', `/agent/jobs/${id}/cancel`);
    if (!response.ok && response.status !== 409) throw new Error(`${response.status}: ${await response.text()}`);
  });
}

async function untilTaken<T>(send: () => Promise<T>): Promise<T> {
  const giveUpMs = Date.now() + 60_000;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      // A refusal is permanent.
      if (/ answered 4\d\d/.test(String(error)) || Date.now() > giveUpMs) throw error;
      await sleep(100);
    }
  }
}

interface Killing {
  plan: AgentChaosPlan;
  random: Random;
  watch: JobWatch;
  kills: string[];
}

async function killThings(stack: Stack, { plan, random, watch, kills }: Killing): Promise<void> {
  const victims = [...stack.agentWorkers.keys(), 'redis' as const];
  for (let count = 1; count <= plan.kills; count++) {
    await watch.untilEnded(Math.floor(((count - 1) * plan.jobs) / plan.kills));
    await sleep(random.below(400));
    const victim = random.pick(victims);
    const downMs = random.below(500);
    kills.push(victim === 'redis' ? 'redis' : `worker ${victim + 1}`);
    if (victim === 'redis') {
      await stack.redis.kill();
      await sleep(downMs);
      await stack.redis.start();
    } else {
      await stack.agentWorkers[victim]!.kill('SIGKILL');
      await sleep(downMs);
      await stack.agentWorkers[victim]!.restart();
    }
  }
}

/**
 * Waits until each job's end is among the events of SSE and of the webhooks; the judgement reports those that are
 * missing.
 */
async function untilReported(
  ids: readonly string[],
  ways: Record<string, () => readonly AgentJobEvent[]>,
  onProgress: (line: string) => void,
): Promise<void> {
  const giveUpMs = Date.now() + REPORTED_WITHIN_MS;
  while (Date.now() < giveUpMs) {
    const missing = Object.entries(ways).flatMap(([way, read]) => {
      const ended = new Set(
        read()
          .filter(isEnd)
          .map(({ jobId }) => jobId),
      );
      const count = ids.filter((id) => !ended.has(id)).length;
      return count === 0 ? [] : [`${count} ends by ${way}`];
    });
    if (missing.length === 0) return;
    onProgress(`not reported yet: ${missing.join(', ')}`);
    await sleep(2_000);
  }
}
