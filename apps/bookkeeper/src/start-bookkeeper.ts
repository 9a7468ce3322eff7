import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { type RunningService } from '@tollgate/common';
import { openWhenUp, readEnvironment, warningsOf } from '@tollgate/config';
import { checkCrypto } from '@tollgate/crypto';
import { arriveWithin, closeWhenIdle, isLoopbackHost, ProblemFilter, toOpenApiSchema } from '@tollgate/http';
import { Logger } from 'nestjs-pino';

import packageJson from '../../../package.json' with { type: 'json' };
import { BookHolder } from './book/book-holder.js';
import { BookkeeperModule } from './bookkeeper.module.js';
import { BookkeeperEnvironment } from './config/bookkeeper.config.js';
import { guardConsole } from './console/console-gate.js';
import { Journals } from './journals/journals.js';
import { ConsoleSessions, forwardToOperator } from './sessions/console-sessions.js';

const MAX_BODY_BYTES = 64 * 1024;
/** The id of an authorization has 190 characters, percent-encoded some more. */
const MAX_ID_LENGTH = 400;

/**
 * Starts health, metrics and the operator API, then checks Redis and opens the book. Waits for a Redis or a database that
 * is down, and while another bookkeeper has the book; refuses to start where only another setting helps.
 */
export async function startBookkeeper(
  env: NodeJS.ProcessEnv,
): Promise<RunningService & { app: NestFastifyApplication }> {
  await checkCrypto();
  const environment = readEnvironment(BookkeeperEnvironment, env);
  const { bookkeeperHost: host, bookkeeperPort: port, proxies } = environment.server;
  const app = await NestFactory.create<NestFastifyApplication>(
    BookkeeperModule.forRoot(environment),
    new FastifyAdapter({
      ...arriveWithin(),
      bodyLimit: MAX_BODY_BYTES,
      rewriteUrl: forwardToOperator,
      routerOptions: { maxParamLength: MAX_ID_LENGTH },
      trustProxy: proxies.trusted,
    }),
    { bufferLogs: true, abortOnError: false },
  );
  closeWhenIdle(app.getHttpAdapter().getInstance(), 0);
  const logger = app.get(Logger);
  app.useLogger(logger);
  app.useGlobalFilters(new ProblemFilter());
  try {
    registerDocument(app);
    const { consoleHosts } = environment.server;
    guardConsole(app.getHttpAdapter().getInstance(), app.get(ConsoleSessions), consoleHosts);
    await app.listen(port, host);
    for (const warning of warningsOf(environment)) logger.warn(`bookkeeper: ${warning}`);
    if (!isLoopbackHost(host)) {
      logger.warn(`bookkeeper: BOOKKEEPER_HOST is ${host}: let only operators reach it, through a proxy with HTTPS`);
    }
    logger.log(`bookkeeper: operator API, console, health and metrics at ${await app.getUrl()}`);
    await openWhenUp('bookkeeper: waits for Redis', () => app.get(Journals).journal.open(), logger);
    await app.get(BookHolder).start();
  } catch (error) {
    await app.close();
    throw error;
  }
  return { app, close: () => app.close(), shutdownTimeoutMs: environment.shutdown.shutdownTimeoutMs };
}

/** `GET /operator/openapi.json`: the operator API, as its controllers declare it. */
function registerDocument(app: NestFastifyApplication): void {
  const builder = new DocumentBuilder()
    .setTitle('Tollgate operator API')
    .setDescription('What was paid, booked, refused and refunded. Errors are problem+json (RFC 9457).')
    .setVersion(packageJson.version)
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'tgk_<id>_<secret>' });
  const document = SwaggerModule.createDocument(app, builder.build(), {
    standardSchemaConverter: toOpenApiSchema,
  });
  const text = JSON.stringify(document);
  app
    .getHttpAdapter()
    .getInstance()
    .get('/operator/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
}
