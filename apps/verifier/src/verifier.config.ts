import {
  type ChecksTogether,
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
  SignedPaymentsEnvironment,
} from '@tollgate/common';

import { ChainEnvironment } from './config/chain.environment.js';
import { RulesEnvironment } from './config/rules.environment.js';
import { ServerEnvironment } from './config/server.environment.js';
import { SettlementEnvironment } from './config/settlement.environment.js';

/** Every setting of the verifier; `readEnvironment(VerifierEnvironment, process.env)` at start. */
export class VerifierEnvironment implements ChecksTogether {
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

  problemsTogether(): string[] {
    if (this.payment.paymentPolicy !== 'receipt' || this.settlement.signers.length === 0) return [];
    return [
      'RELAYER_PRIVATE_KEYS needs PAYMENT_POLICY transfer or bound: under receipt a settlement could be shown as a proof again.',
    ];
  }
}
