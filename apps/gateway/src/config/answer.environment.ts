import { Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

/** How a paid answer is held and kept. */
export class AnswerEnvironment {
  @Setting({ help: 'Largest answer in bytes that is kept with its payment; a larger one is streamed.' })
  @IsInt()
  @Min(0)
  @Max(268_435_456)
  readonly maxStoredAnswerBytes: number = 1_048_576;

  @Setting({ help: 'Bytes of Redis that kept answers may take together; above it only the payment is remembered.' })
  @IsInt()
  @Min(0)
  readonly answerStoreBytes: number = 536_870_912;

  @Setting({
    help: 'Milliseconds after which a payment is free to be retried when its gateway died; renewed meanwhile.',
  })
  @IsInt()
  @Min(1_000)
  @Max(600_000)
  readonly leaseMs: number = 30_000;
}
