import { IsIntIn, Setting } from '@tollgate/config';

/** How events are posted to webhook targets: those of jobs by the workers, those of payments by the bookkeeper. */
export class WebhookEnvironment {
  @Setting({
    help: 'How often an event is posted before it becomes a dead letter; with the defaults after about 22 hours.',
  })
  @IsIntIn(1, 100)
  readonly webhookAttempts: number = 17;

  @Setting({ help: 'Milliseconds before the second attempt; the delay doubles with each.' })
  @IsIntIn(10, 3_600_000)
  readonly webhookFirstRetryMs: number = 5_000;

  @Setting({
    help: 'The longest delay between two attempts, whatever Retry-After says.',
  })
  @IsIntIn(10, 86_400_000)
  readonly webhookLongestRetryMs: number = 14_400_000;

  @Setting({ help: 'Milliseconds within which a webhook target must answer.' })
  @IsIntIn(100, 60_000)
  readonly webhookTimeoutMs: number = 10_000;

  @Setting({ help: 'Events that may wait for one target; above it the oldest are dropped.' })
  @IsIntIn(1, 1_000_000)
  readonly webhookWaitingPerTarget: number = 10_000;

  @Setting({
    help: 'Events kept for all targets of jobs, and as many for those of payments, dead letters included; above it the target with the most loses its oldest.',
  })
  @IsIntIn(1, 10_000_000)
  readonly webhookKeptInAll: number = 50_000;

  @Setting({ help: 'Concurrent posts of one process.' })
  @IsIntIn(1, 1_000)
  readonly webhookConcurrency: number = 32;

  @Setting({ help: 'Concurrent posts of one process to the same target.' })
  @IsIntIn(1, 1_000)
  readonly webhookConcurrencyPerTarget: number = 4;
}
