import { Setting } from '@tollgate/common';
import { IsInt, IsNotEmpty, Max, Min } from 'class-validator';

export class VerifierServerEnvironment {
  @Setting({ help: 'Port of /health and /metrics; 0 takes a free one.' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly verifierPort: number = 4021;

  @Setting({ help: 'Address of /health and /metrics; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly verifierHost: string = '127.0.0.1';

  @Setting({ help: 'Payments verified at once; further ones stay in the queue, for other replicas.' })
  @IsInt()
  @Min(1)
  @Max(100_000)
  readonly maxInFlight: number = 512;
}
