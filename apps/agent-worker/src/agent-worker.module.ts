import { Module, type DynamicModule } from '@nestjs/common';
import { createLoggerParams, HealthModule, MetricsModule } from '@tollgate/common';
import { listSecrets } from '@tollgate/config';
import { LoggerModule } from 'nestjs-pino';

import { AgentWorkerEnvironment } from './config/agent-worker.config.js';
import { ConnectionsModule } from './connections/connections.module.js';
import { ConsumersModule } from './consumers/consumers.module.js';
import { LanesModule } from './lanes/lanes.module.js';
import { WorkerReadiness } from './lanes/worker-readiness.js';
import { CREATE_PLANNING, type CreatePlanning } from './planning/plannings.js';

@Module({})
export class AgentWorkerModule {
  /** Gives the settings to the modules; Nest builds everything else. */
  static forRoot(environment: AgentWorkerEnvironment, createPlanning: CreatePlanning): DynamicModule {
    return {
      module: AgentWorkerModule,
      global: true,
      imports: [
        LoggerModule.forRoot(
          createLoggerParams({ service: 'agent-worker', log: environment.log, secrets: listSecrets(environment) }),
        ),
        MetricsModule.forRoot({ service: 'agent-worker' }),
        HealthModule.forRootAsync({
          imports: [LanesModule],
          inject: [WorkerReadiness],
          useFactory: ({ checks }: WorkerReadiness) => checks,
        }),
        ConnectionsModule,
        ConsumersModule,
      ],
      providers: [
        { provide: AgentWorkerEnvironment, useValue: environment },
        { provide: CREATE_PLANNING, useValue: createPlanning },
      ],
      exports: [AgentWorkerEnvironment, CREATE_PLANNING],
    };
  }
}
