import { Controller, Get, Header, Inject, Logger, Res, ServiceUnavailableException } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { HealthCheckService, HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';

import { isStopping } from '../shutdown/stopping.js';
import { READINESS_CHECKS, type ReadinessChecks } from './readiness-checks.js';

const CHECK_TIMEOUT_MS = 2_000;
/** The endpoint is open to all, so each dependency is checked at most twice a second. */
const CHECK_EVERY_MS = 500;
/** Probes start with the process; a dependency that is still connecting within this time is not logged. */
const STARTING_MS = 3_000;

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
    if (this.#failing.has(name) || performance.now() - this.#startedMs < STARTING_MS) return;
    this.#failing.add(name);
    this.#logger.warn(`not ready: ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
