import { IsIntIn } from './is-int-in.js';
import { Setting } from './setting.js';

export class ShutdownEnvironment {
  @Setting({
    help: 'Milliseconds that running work has to finish after SIGTERM or SIGINT; at the gateway counted after DRAIN_MS.',
  })
  @IsIntIn(0, 600_000)
  readonly shutdownTimeoutMs: number = 25_000;
}
