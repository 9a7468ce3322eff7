import {
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
} from '@tollgate/common';

import { AgentJobsEnvironment } from './config/agent-jobs.environment.js';
import { AnswerEnvironment } from './config/answer.environment.js';
import { ChallengeEnvironment } from './config/challenge.environment.js';
import { FacilitatorEnvironment } from './config/facilitator.environment.js';
import { ServerEnvironment } from './config/server.environment.js';
import { VerificationEnvironment } from './config/verification.environment.js';
import { WeatherEnvironment } from './config/weather.environment.js';

/** Every setting of the gateway; `readEnvironment(GatewayEnvironment, process.env)` at start. */
export class GatewayEnvironment {
  @SettingGroup(ServerEnvironment)
  readonly server!: ServerEnvironment;

  @SettingGroup(PaymentEnvironment)
  readonly payment!: PaymentEnvironment;

  @SettingGroup(ChallengeEnvironment)
  readonly challenge!: ChallengeEnvironment;

  @SettingGroup(VerificationEnvironment)
  readonly verification!: VerificationEnvironment;

  @SettingGroup(AnswerEnvironment)
  readonly answers!: AnswerEnvironment;

  @SettingGroup(WeatherEnvironment)
  readonly weather!: WeatherEnvironment;

  @SettingGroup(AgentJobsEnvironment)
  readonly agentJobs!: AgentJobsEnvironment;

  @SettingGroup(FacilitatorEnvironment)
  readonly facilitator!: FacilitatorEnvironment;

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;
}
