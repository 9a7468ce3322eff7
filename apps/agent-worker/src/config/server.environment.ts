import { Setting } from '@tollgate/common';
import { IsInt, IsNotEmpty, Max, Min } from 'class-validator';

export class WorkerServerEnvironment {
  @Setting({ help: 'Port for health and metrics of the agent worker; 0 picks a free one.' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly agentWorkerPort: number = 4022;

  @Setting({ help: 'Address on which health and metrics of the agent worker listen; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly agentWorkerHost: string = '127.0.0.1';
}
