import { Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

export class WebhookEnvironment {
  @Setting({
    help: 'How often an event is posted to a webhook target before it becomes a dead letter; with the other defaults that is after about 22 hours.',
  })
  @IsInt()
  @Min(1)
  @Max(100)
  readonly webhookAttempts: number = 17;

  @Setting({ help: 'Milliseconds before the second attempt to post an event; the delay doubles with each attempt.' })
  @IsInt()
  @Min(10)
  @Max(3_600_000)
  readonly webhookFirstRetryMs: number = 5_000;

  @Setting({
    help: 'The longest delay between two attempts to post an event, in milliseconds, whatever Retry-After says.',
  })
  @IsInt()
  @Min(10)
  @Max(86_400_000)
  readonly webhookLongestRetryMs: number = 14_400_000;

  @Setting({ help: 'Milliseconds within which a webhook target must answer.' })
  @IsInt()
  @Min(100)
  @Max(60_000)
  readonly webhookTimeoutMs: number = 10_000;

  @Setting({ help: 'Events that may wait for one webhook target; above this limit the oldest are dropped.' })
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  readonly webhookWaitingPerTarget: number = 10_000;

  @Setting({ help: 'Concurrent posts of one worker to all webhook targets together.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly webhookConcurrency: number = 32;

  @Setting({ help: 'Concurrent posts of one worker to the same webhook target.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly webhookConcurrencyPerTarget: number = 4;
}
