import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { WalletDirectory } from '@tollgate/agent-jobs';
import { type RunningService } from '@tollgate/common';
import { readEnvironment, warningsOf } from '@tollgate/config';
import { checkCrypto } from '@tollgate/crypto';
import { arriveWithin, closeWhenIdle, ProblemFilter } from '@tollgate/http';
import { Journal } from '@tollgate/journal';
import { RequestReplyServer } from '@tollgate/transport';
import { Logger } from 'nestjs-pino';

import { AgentWorkerModule } from './agent-worker.module.js';
import { AgentWorkerEnvironment } from './config/agent-worker.config.js';
import { WorkerConnections } from './connections/worker-connections.js';
import { AgentJobsConsumer } from './consumers/agent-jobs-consumer.js';
import { JobWebhooks } from './events/job-webhooks.js';
import { assertChain } from './lanes/assert-chain.js';
import { LaneFleet } from './lanes/lane-fleet.js';
import { openJournal } from './lanes/open-journal.js';
import { WorkerReadiness } from './lanes/worker-readiness.js';
import { Plannings, type CreatePlanning } from './planning/plannings.js';
import type { WorkerWallet } from './wallets/worker-wallet.js';

/**
 * Starts health and metrics first, then the journal, then lanes and request handlers. Waits for a Redis that is down,
 * and starts without a chain that is; refuses to start on another chain, with a Redis that may lose jobs, or with a
 * wallet whose name refers to another account. The lanes already work while it waits for the queues' Redis. At `close`,
 * Nest stops the consumers of new work, then the lanes.
 */
export async function startAgentWorker(
  env: NodeJS.ProcessEnv,
  createPlanning: CreatePlanning,
): Promise<Required<RunningService> & { app: NestFastifyApplication }> {
  const secp256k1 = await checkCrypto();
  const environment = readEnvironment(AgentWorkerEnvironment, env);
  const { server, chain, ownWallets: wallets } = environment;
  const app = await NestFactory.create<NestFastifyApplication>(
    AgentWorkerModule.forRoot(environment, createPlanning),
    new FastifyAdapter(arriveWithin()),
    { bufferLogs: true, abortOnError: false },
  );
  closeWhenIdle(app.getHttpAdapter().getInstance(), 0);
  const logger = app.get(Logger);
  const journal = app.get(Journal);
  app.useLogger(logger);
  app.useGlobalFilters(new ProblemFilter());
  try {
    app.get(Plannings).open();
    app.connectMicroservice({ strategy: app.get(RequestReplyServer) });
    await app.listen(server.agentWorkerPort, server.agentWorkerHost);
    logger.log(`agent worker: secp256k1: ${secp256k1}`);
    for (const warning of warningsOf(environment)) logger.warn(`agent worker: ${warning}`);
    logger.log(`agent worker: health and metrics at ${await app.getUrl()}`);
    await assertChain({ rpcUrls: chain.rpcUrl, timeoutMs: chain.rpcTimeoutMs, chainId: chain.chainId }, logger);
    const { journalRedis: redis } = app.get(WorkerConnections);
    await openJournal({ redis, journal, directory: app.get(WalletDirectory), wallets }, logger);
    app.get(LaneFleet).start();
    app.get(AgentJobsConsumer).start();
    app.get(JobWebhooks).start();
  } catch (error) {
    await app.close();
    throw error;
  }
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close());
  const takeRequests = async (): Promise<void> => {
    await app.startAllMicroservices();
    app.get(WorkerReadiness).isOpen = true;
    await announceWallets(journal, wallets, logger);
  };
  return { app, close, opened: takeRequests(), shutdownTimeoutMs: environment.shutdown.shutdownTimeoutMs };
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
