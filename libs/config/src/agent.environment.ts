import { IsBoolean, MinLength } from 'class-validator';

import { IsRandomText, Setting } from './setting.js';

/** Which addresses of other people's servers may be reached. */
export class TargetEnvironment {
  @Setting({
    help: 'Allow payment jobs and webhooks to reach private, loopback and link-local addresses. For development only.',
  })
  @IsBoolean()
  readonly allowPrivateTargets: boolean = false;
}

/** Settings that the services which accept and run agent jobs must share. */
export class AgentEnvironment extends TargetEnvironment {
  @Setting({
    help: 'The secrets for direct enqueuing and for webhooks are derived from it. At least 32 characters, the same for gateways, agent workers and npm run keys.',
    secret: true,
    example: '$(openssl rand -hex 32)',
  })
  @MinLength(32, { message: '$property must have at least 32 characters' })
  @IsRandomText()
  readonly agentSecret!: string;
}
