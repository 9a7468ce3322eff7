import { IsBoolean, MinLength } from 'class-validator';

import { IsRandomText } from './is-random-text.js';
import { Setting } from './setting.js';

/** What the processes that take and carry out agent jobs must agree on. */
export class AgentEnvironment {
  @Setting({
    help: 'Derives the secrets of direct enqueuing and of webhooks. At least 32 characters, the same for gateways, agent workers and npm run keys.',
    secret: true,
    example: '$(openssl rand -hex 32)',
  })
  @MinLength(32, { message: '$property must have at least 32 characters' })
  @IsRandomText()
  readonly agentSecret!: string;

  @Setting({
    help: 'Let payment jobs and webhooks reach private, loopback and link-local addresses: only for development.',
  })
  @IsBoolean()
  readonly allowPrivateTargets: boolean = false;
}
