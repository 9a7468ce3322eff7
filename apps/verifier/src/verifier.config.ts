import {
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
} from '@tollgate/common';

import { ChainEnvironment } from './config/chain.environment.js';
import { RulesEnvironment } from './config/rules.environment.js';
import { ServerEnvironment } from './config/server.environment.js';
import { SettlementEnvironment } from './config/settlement.environment.js';
import { SignedPaymentsEnvironment } from './config/signed-payments.environment.js';

/** Every setting of the verifier; `readEnvironment(VerifierEnvironment, process.env)` at start. */
export class VerifierEnvironment {
  @SettingGroup(ServerEnvironment)
  readonly server!: ServerEnvironment;

  @SettingGroup(PaymentEnvironment)
  readonly payment!: PaymentEnvironment;

  @SettingGroup(ChainEnvironment)
  readonly chain!: ChainEnvironment;

  @SettingGroup(RulesEnvironment)
  readonly rules!: RulesEnvironment;

  @SettingGroup(SettlementEnvironment)
  readonly settlement!: SettlementEnvironment;

  @SettingGroup(SignedPaymentsEnvironment)
  readonly signedPayments!: SignedPaymentsEnvironment;

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;
}
