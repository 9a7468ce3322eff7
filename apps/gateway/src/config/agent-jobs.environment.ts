import { IsRandomText, Setting } from '@tollgate/common';
import { IsBoolean, IsInt, IsOptional, Max, Min, MinLength } from 'class-validator';

/** The gateway's part in agent jobs. Nobody needs an API key, nor any of these, to sell and to pay. */
export class AgentJobsEnvironment {
  @Setting({
    help: 'Derives the secrets of direct enqueuing and of webhooks. At least 32 characters, the same for gateways, agent workers and npm run keys; a gateway without it registers no webhooks.',
    secret: true,
    example: '$(openssl rand -hex 32)',
  })
  @IsOptional()
  @MinLength(32, { message: '$property must have at least 32 characters' })
  @IsRandomText()
  readonly agentSecret?: string;

  @Setting({
    help: 'Let payment jobs and webhooks reach private, loopback and link-local addresses: only for development.',
  })
  @IsBoolean()
  readonly allowPrivateTargets: boolean = false;

  @Setting({ help: 'Requests to /agent a minute with one API key; 0 sets no limit.' })
  @IsInt()
  @Min(0)
  readonly agentRateLimitPerMinute: number = 600;

  @Setting({ help: 'Event streams that one API key may have open at one gateway.' })
  @IsInt()
  @Min(1)
  @Max(10_000)
  readonly agentStreamsPerKey: number = 10;

  @Setting({ help: 'Event streams that may be open at one gateway.' })
  @IsInt()
  @Min(1)
  @Max(100_000)
  readonly agentStreams: number = 1000;

  @Setting({ help: 'Milliseconds between the signs of life of an event stream on which nothing happens.' })
  @IsInt()
  @Min(100)
  @Max(600_000)
  readonly agentStreamHeartbeatMs: number = 15_000;

  @Setting({ help: 'Milliseconds after which an event stream is cut whose client takes nothing; it can come back.' })
  @IsInt()
  @Min(100)
  @Max(600_000)
  readonly agentStreamStallMs: number = 30_000;

  @Setting({ help: 'Milliseconds that a dry run waits for a worker to plan.' })
  @IsInt()
  @Min(100)
  @Max(60_000)
  readonly agentPlanTimeoutMs: number = 15_000;
}
