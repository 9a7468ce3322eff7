import { IsIntIn, Setting } from '@tollgate/common';
import { IsNotEmpty } from 'class-validator';

export class VerifierServerEnvironment {
  @Setting({ help: 'Port of /health and /metrics; 0 takes a free one.' })
  @IsIntIn(0, 65_535)
  readonly verifierPort: number = 4021;

  @Setting({ help: 'Address of /health and /metrics; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly verifierHost: string = '127.0.0.1';

  @Setting({ help: 'Payments verified at once; further ones stay in the queue, for other replicas.' })
  @IsIntIn(1, 100_000)
  readonly maxInFlight: number = 512;
}
