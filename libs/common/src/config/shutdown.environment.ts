import { IsInt, Max, Min } from 'class-validator';

import { Setting } from './setting.js';

export class ShutdownEnvironment {
  @Setting({
    help: 'Milliseconds that running work has to finish after SIGTERM or SIGINT; at the gateway counted after DRAIN_MS.',
  })
  @IsInt()
  @Min(0)
  @Max(600_000)
  readonly shutdownTimeoutMs: number = 25_000;
}
