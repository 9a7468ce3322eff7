import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { WalletDirectory } from '@tollgate/agent-jobs';
import {
  ApiKeyStore,
  createLoggerParams,
  HealthModule,
  listSecrets,
  MetricsModule,
  observeCounts,
  observeGauge,
  type RequestReplyServer,
} from '@tollgate/common';
import { Chain, Journal } from '@tollgate/journal';
import { LoggerModule } from 'nestjs-pino';
import { Registry } from 'prom-client';

import type { AgentWorkerEnvironment } from './agent-worker.config.js';
import { AgentJobsConsumer } from './consumers/agent-jobs-consumer.js';
import { PlanJobController } from './consumers/plan-job.controller.js';
import { ReadMinedNonceController } from './consumers/read-mined-nonce.controller.js';
import type { EventConsumer } from './events/event-consumer.js';
import { EventPumps } from './events/event-pumps.js';
import { createEventCounter, observeEventLag } from './events/observe-events.js';
import { createReadinessChecks } from './lanes/create-readiness-checks.js';
import { LaneFleet, type LaneFleetOptions } from './lanes/lane-fleet.js';
import { LaneTroubles } from './lanes/lane-troubles.js';
import { publishTokens } from './lanes/publish-tokens.js';
import { takeWakeUps } from './lanes/take-wake-ups.js';
import { JobMetrics } from './metrics/job-metrics.js';
import { observeBalances } from './metrics/observe-balances.js';
import { observeLanes } from './metrics/observe-lanes.js';
import { createWebhooks } from './webhooks/create-webhooks.js';
import { connectWorker, disconnectWorker, type WorkerConnections } from './worker-connections.js';
import { WALLETS, WEBHOOKS, type CreatePlanning } from './worker-parts.js';

const CONNECTIONS = Symbol('connections');
/**
 * The share of the stop timeout that running lane work gets; the rest is for releasing lanes and closing connections.
 */
const SETTLING_SHARE = 0.4;

export interface AgentWorkerParts {
  createPlanning: CreatePlanning;
  /** Dry-run requests from gateways. */
  server: RequestReplyServer;
  /** The journal is open, and lanes are running. */
  isOpen: () => boolean;
}

@Module({})
export class AgentWorkerModule implements OnApplicationShutdown {
  constructor(@Inject(CONNECTIONS) private readonly connections: WorkerConnections) {}

  static forRoot(environment: AgentWorkerEnvironment, parts: AgentWorkerParts): DynamicModule {
    const registry = new Registry();
    const troubles = new LaneTroubles(registry);
    const connections = connectWorker(environment, (error) => troubles.report('', error));
    const { journalRedis, queueRedis, consumerRedis, chain } = connections;
    const journal = new Journal({ redis: journalRedis });
    const directory = new WalletDirectory(journalRedis);
    const wallets = environment.wallets.walletsOn(chain.chainId);
    const metrics = new JobMetrics(registry, journal);
    const webhooks = createWebhooks({
      ...{ journalRedis, queueRedis, consumerRedis, registry },
      agent: environment.agent,
      settings: environment.webhooks,
    });
    const consumers = [metrics, connections.nestEvents, webhooks.consumer];
    const pumps = createPumps(registry, { connections, journal, consumers, troubles });
    const fleet = createFleet(connections, {
      ...{ journal, chain, wallets, troubles },
      settings: environment.lanes.laneSettings(environment.shutdown.shutdownTimeoutMs * SETTLING_SHARE),
      createPlanning: (wallet) => parts.createPlanning({ environment, journal, wallet }),
      attendantsOf: ({ name }, planning, wake) => [
        takeWakeUps({
          connection: consumerRedis,
          wake: (jobId) => {
            metrics.wokenUp(name);
            wake(jobId);
          },
        }),
        (held) => pumps.attend(held, name),
        publishTokens(directory, name, () => planning.readTokens()),
      ],
    });
    const consumer = new AgentJobsConsumer({
      ...{ journal, directory, queue: connections.wakeQueues, connection: consumerRedis },
      apiKeys: new ApiKeyStore(journalRedis),
      agentSecret: environment.agent.agentSecret,
      maxAgeMs: environment.messages.messageMaxAgeSeconds * 1000,
      onDecision: (decision) => metrics.messageDecided(decision),
    });
    observe(registry, { environment, connections, fleet, journal, server: parts.server });

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
      controllers: [PlanJobController, ReadMinedNonceController],
      providers: [
        { provide: CONNECTIONS, useValue: connections },
        { provide: Chain, useValue: chain },
        { provide: Journal, useValue: journal },
        { provide: WalletDirectory, useValue: directory },
        { provide: WALLETS, useValue: wallets },
        { provide: LaneFleet, useValue: fleet },
        { provide: AgentJobsConsumer, useValue: consumer },
        { provide: WEBHOOKS, useValue: webhooks },
      ],
    };
  }

  /** Closed last: by now lanes and consumers have stopped, or their time is up. */
  onApplicationShutdown(): Promise<void> {
    return disconnectWorker(this.connections);
  }
}

/** An invalid policy stops the start; close the connections that are already open. */
function createFleet(connections: WorkerConnections, options: LaneFleetOptions): LaneFleet {
  try {
    return new LaneFleet(options);
  } catch (error) {
    void disconnectWorker(connections);
    throw error;
  }
}

/** All consumers of the events of the lanes that this process holds. */
function createPumps(
  registry: Registry,
  parts: { connections: WorkerConnections; journal: Journal; consumers: EventConsumer[]; troubles: LaneTroubles },
): EventPumps {
  const { connections, journal, consumers, troubles } = parts;
  const pumps = new EventPumps({
    journal,
    bell: connections.bell,
    consumers,
    onTrouble: (error) => troubles.report('', error),
    onTaken: createEventCounter(registry),
  });
  observeEventLag(registry, pumps, journal);
  return pumps;
}

function observe(
  registry: Registry,
  parts: {
    environment: AgentWorkerEnvironment;
    connections: WorkerConnections;
    fleet: LaneFleet;
    journal: Journal;
    server: RequestReplyServer;
  },
): void {
  const { environment, connections, fleet, journal, server } = parts;
  const wallets = environment.wallets.walletsOn(environment.chain.chainId);
  const isHolding = (walletName: string): boolean => fleet.isHolding(walletName);
  observeLanes(registry, { journal, wallets, isHolding });
  observeBalances(registry, { wallets, chain: connections.chain, isHolding });
  observeCounts(registry, 'tollgate_agent_plan_requests', 'Dry runs, by outcome.', server);
  observeGauge(
    registry,
    'tollgate_agent_jobs_waiting',
    'Jobs of other services that no worker has taken from the queue.',
    () => connections.agentJobs.getWaitingCount(),
  );
}

/** A secret key is redacted with and without its `0x`. */
function secretsOf(environment: AgentWorkerEnvironment): string[] {
  return listSecrets(environment).map((secret) => secret.replace(/^0x/, ''));
}
