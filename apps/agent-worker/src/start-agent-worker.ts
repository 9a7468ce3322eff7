import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ProblemFilter, readEnvironment, type RunningService } from '@tollgate/common';
import { Logger } from 'nestjs-pino';

import { AgentWorkerEnvironment } from './agent-worker.config.js';
import { AgentWorkerModule } from './agent-worker.module.js';

/** Starts also while Redis is away: it is not ready then, and becomes ready by itself. */
export async function startAgentWorker(
  env: NodeJS.ProcessEnv,
): Promise<RunningService & { app: NestFastifyApplication }> {
  const environment = readEnvironment(AgentWorkerEnvironment, env);
  const app = await NestFactory.create<NestFastifyApplication>(
    AgentWorkerModule.forRoot(environment),
    new FastifyAdapter({ forceCloseConnections: 'idle' }),
    { bufferLogs: true, abortOnError: false },
  );
  app.useLogger(app.get(Logger));
  app.useGlobalFilters(new ProblemFilter());
  await app.listen(environment.agentWorkerPort, environment.agentWorkerHost);
  app.get(Logger).log(`agent worker: health and metrics at ${await app.getUrl()}`);
  return { app, close: () => app.close(), shutdownTimeoutMs: environment.shutdown.shutdownTimeoutMs };
}
