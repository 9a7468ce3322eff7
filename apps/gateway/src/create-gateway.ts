import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { warningsOf } from '@tollgate/config';
import type { FastifyInstance } from 'fastify';
import { Logger as PinoLogger } from 'nestjs-pino';

import { ApiKeyAccess } from './agent/access/api-key-access.js';
import { QueueBoard, QUEUE_BOARD_PATHS } from './agent/queue-board/queue-board.js';
import { AppModule } from './app.module.js';
import type { GatewayEnvironment } from './config/gateway.config.js';
import { registerDocs } from './docs/register-docs.js';
import { FacilitatorAccess } from './facilitator/facilitator-access.js';
import { LockQuestions } from './options/lock-questions.js';
import { preparePages, registerPages } from './pages/register-pages.js';
import { challengeSettingsOf } from './paywall/offer/paid-endpoint.js';
import { Paywall } from './paywall/paywall.js';
import { PaywallConnections } from './paywall/paywall.module.js';
import { registerPaidRoutes } from './paywall/register-paid-routes.js';
import type { PaidRoute } from './paywall/route/paid-route.js';
import { createServer } from './server/create-server.js';

/** The paths served without payment, besides routes that declare it themselves. */
const OPEN_PATHS = {
  free: ['/docs', '/docs/*'],
  operational: ['/health/live', '/health/ready', '/metrics'],
  guarded: [QUEUE_BOARD_PATHS],
};

/**
 * The gateway with its routes, ready to listen. The server is created before Nest sees it, so that the gate is the
 * first hook and an unpaid request never enters Nest's pipeline.
 */
export async function createGateway(
  environment: GatewayEnvironment,
  routes: readonly PaidRoute[],
): Promise<NestFastifyApplication> {
  const document = await preparePages(environment);
  const { server, completeRoutes, closedRoutes } = createServer(environment.server, OPEN_PATHS);
  const adapter = createAdapter(server);
  const module = AppModule.forRoot(environment, routes);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bufferLogs: true,
    abortOnError: false,
  });
  app.useLogger(app.get(PinoLogger));
  for (const warning of warningsOf(environment)) new Logger('Settings').warn(warning);
  server.decorate('apiKeyAccess', app.get<ApiKeyAccess>(ApiKeyAccess));
  if (environment.facilitator.isServed)
    server.decorate('facilitatorAccess', app.get<FacilitatorAccess>(FacilitatorAccess));
  try {
    // Not while Nest creates the providers: it would log a refusal with its stack.
    await app.get(PaywallConnections).open();
  } catch (error) {
    await app.close();
    throw error;
  }
  await app.init();
  const { redis, options, ledger } = app.get(PaywallConnections);
  const settings = challengeSettingsOf(environment, options.list);
  const locks = new LockQuestions({
    options: options.list,
    ...environment.verification,
    nowMs: () => ledger.nowMs(),
  });
  const renderPage = await registerPages(server, { environment, routes, redis, locks, document, settings });
  await registerPaidRoutes(server, { paywall: app.get(Paywall), routes, settings, renderPage });
  await app.get(QueueBoard).register(server);
  registerDocs(server, { app, routes, environment, logo: document?.brand.logo ?? null });
  completeRoutes();
  for (const route of closedRoutes)
    new Logger('Routes').error(`${route} has no access rule, so no client can reach it.`);
  return app;
}

/**
 * Nest's adapter adds an onResponse hook for a feature that is not used here. Any such hook makes Fastify listen to the
 * end of every response, which takes a fifth of the time of an unpaid 402, so this one is dropped.
 */
function createAdapter(server: FastifyInstance): FastifyAdapter {
  const addHook = Reflect.get(server, 'addHook') as (...hook: unknown[]) => unknown;
  Reflect.set(server, 'addHook', function (this: FastifyInstance, ...hook: unknown[]) {
    return hook[0] === 'onResponse' ? this : Reflect.apply(addHook, this, hook);
  });
  try {
    // Nest types the instance with its own copy of Fastify's options.
    return new FastifyAdapter(server as never);
  } finally {
    Reflect.set(server, 'addHook', addHook);
  }
}
