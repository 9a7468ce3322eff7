import {
  type ChecksTogether,
  CryptoEnvironment,
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
  SignedPaymentsEnvironment,
} from '@tollgate/common';

import { ChainEnvironment } from './chain.environment.js';
import { ContractWalletsEnvironment } from './contract-wallets.environment.js';
import { RulesEnvironment } from './rules.environment.js';
import { VerifierServerEnvironment } from './server.environment.js';
import { SettlementEnvironment } from './settlement.environment.js';

/** All settings of the verifier, read at start by `readEnvironment(VerifierEnvironment, process.env)`. */
export class VerifierEnvironment implements ChecksTogether {
  @SettingGroup(VerifierServerEnvironment)
  readonly server!: VerifierServerEnvironment;

  @SettingGroup(PaymentEnvironment)
  readonly payment!: PaymentEnvironment;

  @SettingGroup(ChainEnvironment)
  readonly chain!: ChainEnvironment;

  @SettingGroup(RulesEnvironment)
  readonly rules!: RulesEnvironment;

  @SettingGroup(SettlementEnvironment)
  readonly settlement!: SettlementEnvironment;

  @SettingGroup(ContractWalletsEnvironment)
  readonly contractWallets!: ContractWalletsEnvironment;

  @SettingGroup(SignedPaymentsEnvironment)
  readonly signedPayments!: SignedPaymentsEnvironment;

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(CryptoEnvironment)
  readonly crypto!: CryptoEnvironment;

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;

  problemsTogether(): string[] {
    return [...this.problemsOfRelayers(), ...this.problemsOfBudget()];
  }

  private problemsOfRelayers(): string[] {
    const { payTo, paymentPolicy } = this.payment;
    const { signers } = this.settlement;
    const problems: string[] = [];
    if (paymentPolicy === 'receipt' && signers.length > 0) {
      problems.push(
        'RELAYER_PRIVATE_KEYS needs PAYMENT_POLICY transfer or bound: under receipt, a settlement could be shown again as a proof.',
      );
    }
    if (signers.some(({ address }) => address.toLowerCase() === payTo.toLowerCase())) {
      problems.push(
        'PAY_TO is an account of RELAYER_PRIVATE_KEYS. Relayers only hold gas: receive payments with another account.',
      );
    }
    return problems;
  }

  private problemsOfBudget(): string[] {
    if (this.contractWallets.contractWalletBurnGasPerHour >= this.settlement.settleGasCap) return [];
    return [
      'CONTRACT_WALLET_BURN_GAS_PER_HOUR must not be below SETTLE_GAS_CAP, or no contract wallet could pay. To refuse them all, set SIGNED_PAYMENTS_FROM=plain_accounts.',
    ];
  }
}
