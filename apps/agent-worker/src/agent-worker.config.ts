import { LogEnvironment, RedisEnvironment, Setting, SettingGroup, ShutdownEnvironment } from '@tollgate/common';
import { IsInt, IsNotEmpty, Max, Min } from 'class-validator';

/** Every setting of the agent worker; `readEnvironment(AgentWorkerEnvironment, process.env)` at start. */
export class AgentWorkerEnvironment {
  @Setting({ help: 'Port of health and metrics of the agent worker.' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly agentWorkerPort: number = 4022;

  @Setting({ help: 'Address that health and metrics of the agent worker listen on.' })
  @IsNotEmpty()
  readonly agentWorkerHost: string = '127.0.0.1';

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;
}
