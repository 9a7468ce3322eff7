import { IsIntIn, Setting } from '@tollgate/common';

/** How paid responses are produced and stored. */
export class AnswerEnvironment {
  @Setting({ help: 'Largest response in bytes that is stored with its payment; a larger one is streamed.' })
  @IsIntIn(0, 268_435_456)
  readonly maxStoredAnswerBytes: number = 1_048_576;

  @Setting({ help: 'Bytes of Redis for all stored responses together; above it only the payment is recorded.' })
  @IsIntIn(0)
  readonly answerStoreBytes: number = 536_870_912;

  @Setting({
    help: 'Milliseconds of the lease on a payment, after which it can be retried if its gateway has died. A running gateway renews it.',
  })
  @IsIntIn(1_000, 600_000)
  readonly leaseMs: number = 30_000;
}
