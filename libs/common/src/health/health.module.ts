import {
  Controller,
  Get,
  Header,
  Inject,
  Logger,
  Module,
  Res,
  ServiceUnavailableException,
  type DynamicModule,
  type ModuleMetadata,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  HealthCheckService,
  HealthIndicatorService,
  TerminusModule,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import type { RedisClient } from '@tollgate/redis';

import { isStopping } from '../shutdown/run-service.js';

const CHECK_TIMEOUT_MS = 2_000;
/** The endpoint is open to all, so each dependency is checked at most twice a second. */
const CHECK_EVERY_MS = 500;
/** Probes start with the process; a dependency that is still connecting within this time is not logged. */
const STARTING_MS = 3_000;

/** A dependency is being prepared by this process, which is no reason for a warning, however long it takes. */
export class StillStartingError extends Error {
  override readonly name = 'StillStartingError';
}

/**
 * Checks by name: each resolves when its dependency works and rejects when it does not. An object it resolves with is
 * put into the body.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<Record<string, unknown> | void>>>;

const READINESS_CHECKS = Symbol('readiness checks');

/** Checks that Redis answers, and that the connection does not merely queue commands. */
export function checkRedis(redis: RedisClient): () => Promise<void> {
  return async () => {
    if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
    if (!redis.isCluster) return void (await redis.ping());
    // A cluster without one of its shards still answers PING.
    if (!(await redis.cluster('INFO')).includes('cluster_state:ok')) throw new Error('the cluster is down');
  };
}

@Controller('health')
export class HealthController {
  readonly #logger = new Logger('Health');
  readonly #failing = new Set<string>();
  readonly #startedMs = performance.now();

  constructor(
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(READINESS_CHECKS) private readonly checks: ReadinessChecks,
  ) {}

  /** Answers while the process runs and its event loop turns. A failing dependency is no reason to restart it. */
  @Get('live')
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ access: 'free' })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  @Header('Cache-Control', 'no-store')
  @RouteConfig({ access: 'free' })
  async ready(@Res({ passthrough: true }) reply: { code(status: number): unknown }): Promise<unknown> {
    if (isStopping()) {
      reply.code(503);
      return { status: 'shutting_down' };
    }
    try {
      return await this.health.check(Object.keys(this.checks).map((name) => () => this.#attempt(name)));
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      reply.code(503);
      return error.getResponse();
    }
  }

  async #attempt(name: string): Promise<HealthIndicatorResult> {
    const check = this.checks[name];
    const result = await this.indicators
      .check(name)
      .attempt(async () => {
        try {
          const details = await check?.();
          this.#failing.delete(name);
          return details;
        } catch (error) {
          this.#report(name, error);
          // The cause may hold addresses: it goes to the log only.
          throw new Error('not available');
        }
      })
      .withTimeout(CHECK_TIMEOUT_MS)
      .cacheFor(CHECK_EVERY_MS);
    return result;
  }

  #report(name: string, error: unknown): void {
    if (
      error instanceof StillStartingError ||
      this.#failing.has(name) ||
      performance.now() - this.#startedMs < STARTING_MS
    )
      return;
    this.#failing.add(name);
    this.#logger.warn(`not ready: ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export interface HealthModuleOptions {
  imports?: NonNullable<ModuleMetadata['imports']>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as Nest types factories
  useFactory: (...dependencies: any[]) => ReadinessChecks;
  inject?: (string | symbol | (abstract new (...args: never[]) => unknown))[];
}

/** `GET /health/live` and `GET /health/ready`; ready means that every check passes and the process is not stopping. */
@Module({})
export class HealthModule {
  static forRootAsync({ imports = [], useFactory, inject = [] }: HealthModuleOptions): DynamicModule {
    return {
      module: HealthModule,
      imports: [TerminusModule.forRoot({ logger: false }), ...imports],
      controllers: [HealthController],
      providers: [{ provide: READINESS_CHECKS, useFactory, inject }],
    };
  }
}
