import { IsIntIn, Setting } from '@tollgate/common';
import { IsNotEmpty } from 'class-validator';

export class WorkerServerEnvironment {
  @Setting({ help: 'Port for health and metrics of the agent worker; 0 picks a free one.' })
  @IsIntIn(0, 65_535)
  readonly agentWorkerPort: number = 4022;

  @Setting({ help: 'Address on which health and metrics of the agent worker listen; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly agentWorkerHost: string = '127.0.0.1';
}
