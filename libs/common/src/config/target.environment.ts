import { IsBoolean } from 'class-validator';

import { Setting } from './setting.js';

/** Which addresses of other people's servers may be reached. */
export class TargetEnvironment {
  @Setting({
    help: 'Allow payment jobs and webhooks to reach private, loopback and link-local addresses. For development only.',
  })
  @IsBoolean()
  readonly allowPrivateTargets: boolean = false;
}
