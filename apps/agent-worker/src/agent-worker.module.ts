import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, WakeQueues, WalletDirectory } from '@tollgate/agent-jobs';
import {
  ApiKeyStore,
  connectRedis,
  createLoggerParams,
  HealthModule,
  listSecrets,
  MetricsModule,
  observeCounts,
  observeGauge,
  type RequestReplyServer,
} from '@tollgate/common';
import { Chain, Journal } from '@tollgate/transactions';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { LoggerModule } from 'nestjs-pino';
import { Registry } from 'prom-client';

import type { AgentWorkerEnvironment } from './agent-worker.config.js';
import { AgentJobsConsumer } from './consumers/agent-jobs-consumer.js';
import { PlanJobController } from './consumers/plan-job.controller.js';
import { createReadinessChecks } from './lanes/create-readiness-checks.js';
import { LaneFleet } from './lanes/lane-fleet.js';
import { LaneTroubles } from './lanes/lane-troubles.js';
import { takeWakeUps } from './lanes/take-wake-ups.js';
import { JobMetrics } from './metrics/job-metrics.js';
import { observeBalances } from './metrics/observe-balances.js';
import { observeLanes } from './metrics/observe-lanes.js';
import { WALLETS, type CreatePlanning } from './worker-parts.js';

const CONNECTIONS = Symbol('connections');
/** Of the time that the process has to stop, for what the lanes have begun; the rest is for giving back and closing. */
const SETTLING_SHARE = 0.6;

export interface AgentWorkerParts {
  createPlanning: CreatePlanning;
  /** Of the questions that gateways ask for dry runs. */
  server: RequestReplyServer;
  /** The journal was opened, and lanes are worked on. */
  isOpen: () => boolean;
}

interface Connections {
  journalRedis: Redis;
  /** Fails commands while Redis is away. */
  queueRedis: Redis;
  /** Keeps commands until Redis is back; what BullMQ makes its own connections after. */
  consumerRedis: Redis;
  chain: Chain;
  wakeQueues: WakeQueues;
  agentJobs: Queue;
}

@Module({})
export class AgentWorkerModule implements OnApplicationShutdown {
  constructor(@Inject(CONNECTIONS) private readonly connections: Connections) {}

  static forRoot(environment: AgentWorkerEnvironment, parts: AgentWorkerParts): DynamicModule {
    const registry = new Registry();
    const troubles = new LaneTroubles(registry);
    const connections = connect(environment, troubles);
    const { journalRedis, queueRedis, consumerRedis, chain, wakeQueues } = connections;
    const journal = new Journal({ redis: journalRedis });
    const directory = new WalletDirectory(journalRedis);
    const wallets = environment.wallets.walletsOn(chain.chainId);
    const metrics = new JobMetrics(registry, journal);
    const fleet = new LaneFleet({
      ...{ journal, chain, wallets, troubles },
      settings: environment.lanes.laneSettings(environment.shutdown.shutdownTimeoutMs * SETTLING_SHARE),
      createPlanning: (wallet) => parts.createPlanning({ environment, journal, wallet }),
      attendantsOf: ({ name }, wake) => [
        takeWakeUps({
          connection: consumerRedis,
          wake: (jobId) => {
            metrics.wokenUp(name);
            wake(jobId);
          },
          onTrouble: (error) => troubles.report(name, error),
        }),
      ],
    });
    const consumer = new AgentJobsConsumer({
      ...{ journal, directory, queue: wakeQueues, connection: consumerRedis },
      apiKeys: new ApiKeyStore(journalRedis),
      agentSecret: environment.agent.agentSecret,
      maxAgeMs: environment.messages.messageMaxAgeSeconds * 1000,
      onDecision: (decision) => metrics.messageDecided(decision),
    });
    const isHolding = (walletName: string): boolean => fleet.isHolding(walletName);
    const { rpcUrl: rpcUrls, rpcTimeoutMs: timeoutMs } = environment.chain;
    observeLanes(registry, { journal, wallets, isHolding });
    observeBalances(registry, { wallets, rpcUrls, timeoutMs, isHolding });
    observeCounts(registry, 'tollgate_agent_plan_requests', 'Dry runs by what became of them.', parts.server);
    observeGauge(registry, 'tollgate_agent_jobs_waiting', 'Jobs of other services that no worker has taken.', () =>
      connections.agentJobs.getWaitingCount(),
    );

    return {
      module: AgentWorkerModule,
      imports: [
        LoggerModule.forRoot(
          createLoggerParams({ service: 'agent-worker', log: environment.log, secrets: secretsOf(environment) }),
        ),
        MetricsModule.forRoot({ service: 'agent-worker', registry }),
        HealthModule.forRoot(
          createReadinessChecks({ journalRedis, queueRedis, chain, journal, wallets, isOpen: parts.isOpen }),
        ),
      ],
      controllers: [PlanJobController],
      providers: [
        { provide: CONNECTIONS, useValue: connections },
        { provide: Journal, useValue: journal },
        { provide: WalletDirectory, useValue: directory },
        { provide: WALLETS, useValue: wallets },
        { provide: LaneFleet, useValue: fleet },
        { provide: AgentJobsConsumer, useValue: consumer },
      ],
    };
  }

  /** Last of all: lanes and consumers have ended, or had their time. */
  async onApplicationShutdown(): Promise<void> {
    const { journalRedis, queueRedis, consumerRedis, chain, wakeQueues, agentJobs } = this.connections;
    await Promise.all([wakeQueues.close(), agentJobs.close().catch(() => undefined)]);
    await chain.close();
    for (const redis of [consumerRedis, queueRedis, journalRedis]) redis.disconnect();
  }
}

function connect({ redis, chain }: AgentWorkerEnvironment, troubles: LaneTroubles): Connections {
  const queueRedis = connectRedis({ url: redis.queueRedisUrl, role: 'agent-queues' });
  const queueOptions = { connection: queueRedis, prefix: AGENT_QUEUE_PREFIX, skipWaitingForReady: true };
  const agentJobs = new Queue(AGENT_JOBS_QUEUE, queueOptions);
  // Without a listener an `error` event ends the process; the connection reports its own state.
  agentJobs.on('error', () => undefined);
  return {
    queueRedis,
    agentJobs,
    journalRedis: connectRedis({ url: redis.redisUrl, role: 'journal' }),
    consumerRedis: connectRedis({ url: redis.queueRedisUrl, role: 'agent-consumers', use: 'blocking' }),
    chain: new Chain({
      chainId: chain.chainId,
      rpcUrls: chain.rpcUrl,
      timeoutMs: chain.rpcTimeoutMs,
      batchSize: chain.rpcCallsPerRequest,
    }),
    wakeQueues: new WakeQueues({ connection: queueRedis, onTrouble: (error) => troubles.report('', error) }),
  };
}

/** A key is known with and without its `0x`. */
function secretsOf(environment: AgentWorkerEnvironment): string[] {
  return listSecrets(environment).map((secret) => secret.replace(/^0x/, ''));
}
