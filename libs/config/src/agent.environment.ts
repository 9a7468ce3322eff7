import { IsBoolean, MinLength } from 'class-validator';

import { IsRandomText, Setting } from './setting.js';

/** Which addresses of other people's servers may be reached. */
export class TargetEnvironment {
  @Setting({
    help: 'Let payment jobs and webhooks reach private and loopback addresses. For development only.',
  })
  @IsBoolean()
  readonly allowPrivateTargets: boolean = false;
}

/** Settings that the services which accept and run agent jobs must share. */
export class AgentEnvironment extends TargetEnvironment {
  @Setting({
    help: 'Secret that those of direct enqueuing and of webhooks are derived from, 32 characters or more. The same at gateways, agent workers and npm run keys; without it a gateway registers no webhooks.',
    secret: true,
    example: '$(openssl rand -hex 32)',
  })
  @MinLength(32, { message: '$property must have at least 32 characters' })
  @IsRandomText()
  readonly agentSecret!: string;
}
