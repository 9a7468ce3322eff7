import { Module, type DynamicModule } from '@nestjs/common';

import { GatewayEnvironment } from '../gateway.config.js';
import { ApiKeyAccess } from './access/api-key-access.js';
import { AgentConnections } from './agent-connections.js';
import { JobDecisions } from './jobs/job-decisions.js';
import { JobDecisionsController } from './jobs/job-decisions.controller.js';
import { JobPlanning } from './jobs/job-planning.js';
import { JobSubmission } from './jobs/job-submission.js';
import { Jobs } from './jobs/jobs.js';
import { JobsController } from './jobs/jobs.controller.js';

/** Everything below `/agent`: jobs that move money, for holders of API keys. */
@Module({})
export class AgentModule {
  static forRoot(environment: GatewayEnvironment): DynamicModule {
    return {
      module: AgentModule,
      controllers: [JobsController, JobDecisionsController],
      providers: [
        { provide: GatewayEnvironment, useValue: environment },
        AgentConnections,
        ApiKeyAccess,
        Jobs,
        JobSubmission,
        JobPlanning,
        JobDecisions,
      ],
    };
  }
}
