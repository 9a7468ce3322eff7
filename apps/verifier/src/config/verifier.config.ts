import {
  nameOption,
  type OptionNames,
  CryptoEnvironment,
  IsIntIn,
  listOptionsInLowerCase,
  LogEnvironment,
  OwnChainEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  RpcEnvironment,
  Setting,
  SettingGroup,
  ShutdownEnvironment,
  SignedPaymentsEnvironment,
  type ChecksTogether,
  type PaymentOption,
} from '@tollgate/config';
import { lowerHex } from '@tollgate/protocol';
import { IsNotEmpty } from 'class-validator';

import { ContractWalletsEnvironment, DeploymentsEnvironment, RulesEnvironment } from './rules.environment.js';
import { SettlementEnvironment } from './settlement.environment.js';

class VerifierServerEnvironment {
  @Setting({ help: 'Port of /health and /metrics; 0 takes a free one.' })
  @IsIntIn(0, 65_535)
  readonly verifierPort: number = 4021;

  @Setting({ help: 'Address of /health and /metrics; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly verifierHost: string = '127.0.0.1';

  @Setting({ help: 'Payments verified at once; others stay in the queue.' })
  @IsIntIn(1, 100_000)
  readonly maxInFlight: number = 512;
}

/** How the verifier reads the chain. */
class ChainEnvironment extends RpcEnvironment {
  @Setting({
    help: 'Payments in one JSON-RPC batch (two calls each, three to seven for a signed one).',
  })
  @IsIntIn(1, 1_000)
  readonly rpcBatchSize: number = 50;

  @Setting({ help: 'JSON-RPC batches in flight at once.' })
  @IsIntIn(1, 256)
  readonly rpcBatchesInFlight: number = 8;

  @Setting({ help: 'Longest answer to a batch in bytes; a longer one is rejected.' })
  @IsIntIn(65_536)
  readonly rpcMaxResponseBytes: number = 16_777_216;

  @Setting({
    help: 'Longest answer about one transaction in bytes; a payment with a longer receipt (some 1,400 transfers) is refused.',
  })
  @IsIntIn(65_536)
  readonly rpcMaxReceiptBytes: number = 1_048_576;

  @Setting({ help: 'Blocks that one log search spans; RPC servers limit it.' })
  @IsIntIn(1, 1_000_000)
  readonly rpcLogRangeBlocks: number = 2_000;
}

/** All settings of the verifier, read at start by `readEnvironment(VerifierEnvironment, process.env)`. */
export class VerifierEnvironment implements ChecksTogether {
  @SettingGroup(VerifierServerEnvironment) readonly server!: VerifierServerEnvironment;
  @SettingGroup(PaymentEnvironment) readonly payment!: PaymentEnvironment;
  @SettingGroup(OwnChainEnvironment) readonly own!: OwnChainEnvironment;
  @SettingGroup(ChainEnvironment) readonly chain!: ChainEnvironment;
  @SettingGroup(RulesEnvironment) readonly rules!: RulesEnvironment;
  @SettingGroup(SettlementEnvironment) readonly settlement!: SettlementEnvironment;
  @SettingGroup(ContractWalletsEnvironment) readonly contractWallets!: ContractWalletsEnvironment;
  @SettingGroup(DeploymentsEnvironment) readonly deployments!: DeploymentsEnvironment;
  @SettingGroup(SignedPaymentsEnvironment) readonly signedPayments!: SignedPaymentsEnvironment;
  @SettingGroup(RedisEnvironment) readonly redis!: RedisEnvironment;
  @SettingGroup(CryptoEnvironment) readonly crypto!: CryptoEnvironment;
  @SettingGroup(LogEnvironment) readonly log!: LogEnvironment;
  @SettingGroup(ShutdownEnvironment) readonly shutdown!: ShutdownEnvironment;

  #options: readonly PaymentOption[] | null = null;

  /** What the seller accepts on the chain of this process, with addresses in lower case. */
  get options(): readonly PaymentOption[] {
    const { payment, rules: acceptance, chain: rpc } = this;
    return (this.#options ??= listOptionsInLowerCase({ payment, acceptance, rpc }));
  }

  readonly nameOption = (option: PaymentOption): OptionNames => nameOption(this.payment.payments, option);

  problemsTogether(): string[] {
    return [...this.#problemsOfRelayers(), ...this.#problemsOfBudgets()];
  }

  #problemsOfRelayers(): string[] {
    const { signers } = this.settlement;
    const problems: string[] = [];
    if (this.payment.paymentPolicy === 'receipt' && signers.length > 0) {
      problems.push(
        'RELAYER_PRIVATE_KEYS needs PAYMENT_POLICY transfer or bound: under receipt, a settlement could be shown again as a proof.',
      );
    }
    const relayers = new Set(signers.map(({ address }) => lowerHex(address)));
    for (const option of this.options.filter(({ payTo }) => relayers.has(payTo))) {
      const names = this.nameOption(option);
      problems.push(
        `${names.payTo} is an account of ${names.relayers}. Relayers only hold gas: receive payments with another account.`,
      );
    }
    return problems;
  }

  #problemsOfBudgets(): string[] {
    const problems: string[] = [];
    if (this.contractWallets.contractWalletBurnGasPerHour < this.settlement.settleGasCap) {
      problems.push(
        'CONTRACT_WALLET_BURN_GAS_PER_HOUR must not be below SETTLE_GAS_CAP, or no contract wallet could pay. To refuse them all, set SIGNED_PAYMENTS_FROM=plain_accounts.',
      );
    }
    if (this.deployments.deployGasPerHour < this.deployments.deployGasCap) {
      problems.push(
        'DEPLOY_GAS_PER_HOUR must not be below DEPLOY_GAS_CAP, or no wallet could be deployed. To deploy none, set DEPLOY_GAS_CAP=0.',
      );
    }
    return problems;
  }
}
