import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { WalletDirectory } from '@tollgate/agent-jobs';
import {
  PATTERNS,
  PLAN_QUEUE,
  ProblemFilter,
  readEnvironment,
  RequestReplyServer,
  type RunningService,
} from '@tollgate/common';
import { Journal } from '@tollgate/journal';
import { Logger } from 'nestjs-pino';

import { AgentWorkerEnvironment } from './agent-worker.config.js';
import { AgentWorkerModule } from './agent-worker.module.js';
import { AgentJobsConsumer } from './consumers/agent-jobs-consumer.js';
import { assertChain } from './lanes/assert-chain.js';
import { LaneFleet } from './lanes/lane-fleet.js';
import { openJournal } from './lanes/open-journal.js';
import type { WorkerWallet } from './wallets/worker-wallet.js';
import type { Webhooks } from './webhooks/create-webhooks.js';
import { WALLETS, WEBHOOKS, type CreatePlanning } from './worker-parts.js';

/** The share of the stop timeout for each kind of work beside the lanes: messages, webhook posts, dry runs. */
const SMALL_SHARE = 0.08;

/**
 * Starts health and metrics first, then the journal, then lanes and request handlers. Waits for a Redis that is down,
 * and starts without a chain that is; refuses to start on another chain, with a Redis that may lose jobs, or with a
 * wallet whose name refers to another account.
 */
export async function startAgentWorker(
  env: NodeJS.ProcessEnv,
  createPlanning: CreatePlanning,
): Promise<RunningService & { app: NestFastifyApplication }> {
  const environment = readEnvironment(AgentWorkerEnvironment, env);
  const { shutdownTimeoutMs } = environment.shutdown;
  const server = new RequestReplyServer({
    redisUrl: environment.redis.queueRedisUrl,
    queue: PLAN_QUEUE,
    patterns: PATTERNS[PLAN_QUEUE],
    routingKeys: environment.wallets.walletsOn(environment.chain.chainId).map(({ name }) => name),
    maxInFlight: 32,
    closeTimeoutMs: Math.ceil(shutdownTimeoutMs * SMALL_SHARE),
  });
  let isOpen = false;
  const app = await NestFactory.create<NestFastifyApplication>(
    AgentWorkerModule.forRoot(environment, { createPlanning, server, isOpen: () => isOpen }),
    new FastifyAdapter({ forceCloseConnections: 'idle' }),
    { bufferLogs: true, abortOnError: false },
  );
  const logger = app.get(Logger);
  app.useLogger(logger);
  app.useGlobalFilters(new ProblemFilter());
  app.connectMicroservice({ strategy: server });
  await app.listen(environment.server.agentWorkerPort, environment.server.agentWorkerHost);
  logger.log(`agent worker: health and metrics at ${await app.getUrl()}`);

  const fleet = app.get(LaneFleet);
  const wallets = app.get<readonly WorkerWallet[]>(WALLETS);
  const consumer = app.get(AgentJobsConsumer);
  const webhooks = app.get<Webhooks>(WEBHOOKS);
  // First the consumers of new work stop, then the lanes, whose jobs need everything else.
  const close = async (): Promise<void> => {
    await consumer.close(shutdownTimeoutMs * SMALL_SHARE);
    await fleet.stop();
    // A remaining worker posts the last events of the lanes.
    await webhooks.close(shutdownTimeoutMs * SMALL_SHARE);
    await app.close();
  };
  try {
    const { rpcUrl: rpcUrls, rpcTimeoutMs: timeoutMs, chainId } = environment.chain;
    await assertChain({ rpcUrls, timeoutMs, chainId }, logger);
    await openJournal({ journal: app.get(Journal), directory: app.get(WalletDirectory), wallets }, logger);
    fleet.start();
    consumer.start();
    webhooks.start();
    await app.startAllMicroservices();
    isOpen = true;
  } catch (error) {
    await close();
    throw error;
  }
  await announceWallets(app.get(Journal), wallets, logger);
  return { app, close, shutdownTimeoutMs };
}

async function announceWallets(journal: Journal, wallets: readonly WorkerWallet[], logger: Logger): Promise<void> {
  for (const { name, lane } of wallets) {
    const status = await journal.readLane(lane).catch(() => null);
    if (status?.nextNonce === null) {
      logger.warn(
        `agent worker: wallet ${name}, ${lane.address}, is not adopted: run npm run wallets -- adopt ${name}`,
      );
    } else {
      logger.log(`agent worker: works for wallet ${name}, ${lane.address}`);
    }
  }
}
