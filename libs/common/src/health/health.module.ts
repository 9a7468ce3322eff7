import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';

import { HealthController, READINESS_CHECKS, type ReadinessChecks } from './health.controller.js';

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
