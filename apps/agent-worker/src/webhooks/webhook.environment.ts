import { Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

export class WebhookEnvironment {
  @Setting({
    help: 'How often an event is posted to a webhook target before it becomes a dead letter; with the other defaults that is after some 22 hours.',
  })
  @IsInt()
  @Min(1)
  @Max(100)
  readonly webhookAttempts: number = 17;

  @Setting({ help: 'Milliseconds until an event is posted again for the first time; they double each time.' })
  @IsInt()
  @Min(10)
  @Max(3_600_000)
  readonly webhookFirstRetryMs: number = 5_000;

  @Setting({ help: 'Milliseconds between two posts of an event at most, whatever Retry-After asks for.' })
  @IsInt()
  @Min(10)
  @Max(86_400_000)
  readonly webhookLongestRetryMs: number = 14_400_000;

  @Setting({ help: 'Milliseconds that a webhook target has to answer.' })
  @IsInt()
  @Min(100)
  @Max(60_000)
  readonly webhookTimeoutMs: number = 10_000;

  @Setting({ help: 'Events that may wait for one webhook target; above it the oldest are dropped.' })
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  readonly webhookWaitingPerTarget: number = 10_000;

  @Setting({ help: 'Posts to webhook targets that one worker has running at most.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly webhookConcurrency: number = 32;

  @Setting({ help: 'Posts to one webhook target that one worker has running at most.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly webhookConcurrencyPerTarget: number = 4;
}
