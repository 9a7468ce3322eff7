import { IsIntIn, IsRandomText, Setting, TargetEnvironment } from '@tollgate/config';
import { IsOptional, MinLength } from 'class-validator';

/** The gateway's settings for agent jobs. Selling and paying need none of them, and no API key. */
export class AgentJobsEnvironment extends TargetEnvironment {
  @Setting({
    help: 'Secret that those of direct enqueuing and of webhooks are derived from, 32 characters or more. The same at gateways, agent workers and npm run keys; without it a gateway registers no webhooks.',
    secret: true,
    example: '$(openssl rand -hex 32)',
  })
  @IsOptional()
  @MinLength(32, { message: '$property must have at least 32 characters' })
  @IsRandomText()
  readonly agentSecret?: string;

  @Setting({ help: 'Requests to /agent per minute and API key; 0 means no limit.' })
  @IsIntIn(0)
  readonly agentRateLimitPerMinute: number = 600;

  @Setting({ help: 'Event streams that one API key may have open at one gateway.' })
  @IsIntIn(1, 10_000)
  readonly agentStreamsPerKey: number = 10;

  @Setting({ help: 'Event streams that may be open at one gateway.' })
  @IsIntIn(1, 100_000)
  readonly agentStreams: number = 1000;

  @Setting({ help: 'Milliseconds between the heartbeats of an idle event stream.' })
  @IsIntIn(100, 600_000)
  readonly agentStreamHeartbeatMs: number = 15_000;

  @Setting({
    help: 'Milliseconds after which an event stream is closed if its client reads nothing.',
  })
  @IsIntIn(100, 600_000)
  readonly agentStreamStallMs: number = 30_000;

  @Setting({ help: 'Milliseconds that a dry run waits for a worker to plan the job.' })
  @IsIntIn(100, 60_000)
  readonly agentPlanTimeoutMs: number = 15_000;
}
