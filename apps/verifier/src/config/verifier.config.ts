import {
  IsIntIn,
  Setting,
  RpcEnvironment,
  AcceptanceEnvironment,
  type ChecksTogether,
  CryptoEnvironment,
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
  SignedPaymentsEnvironment,
} from '@tollgate/common';
import { IsNotEmpty, IsIn } from 'class-validator';

import { SettlementEnvironment } from './settlement.environment.js';

class VerifierServerEnvironment {
  @Setting({ help: 'Port of /health and /metrics; 0 takes a free one.' })
  @IsIntIn(0, 65_535)
  readonly verifierPort: number = 4021;

  @Setting({ help: 'Address of /health and /metrics; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly verifierHost: string = '127.0.0.1';

  @Setting({ help: 'Payments verified at once; further ones stay in the queue, for other replicas.' })
  @IsIntIn(1, 100_000)
  readonly maxInFlight: number = 512;
}

/** How the verifier reads the chain. */
class ChainEnvironment extends RpcEnvironment {
  @Setting({
    help: 'Payments looked up in one JSON-RPC batch (two calls each, three to seven for a signed payment).',
  })
  @IsIntIn(1, 1_000)
  readonly rpcBatchSize: number = 50;

  @Setting({ help: 'JSON-RPC batches in flight at once.' })
  @IsIntIn(1, 256)
  readonly rpcBatchesInFlight: number = 8;

  @Setting({ help: 'Longest answer to a batch in bytes; a longer one is cut off and rejected.' })
  @IsIntIn(65_536)
  readonly rpcMaxResponseBytes: number = 16_777_216;

  @Setting({
    help: 'Longest answer about one transaction in bytes; a transaction with a longer receipt (some 1,400 transfers) is refused as a payment.',
  })
  @IsIntIn(65_536)
  readonly rpcMaxReceiptBytes: number = 1_048_576;

  @Setting({ help: 'Blocks that one log search spans; RPC servers limit it.' })
  @IsIntIn(1, 1_000_000)
  readonly rpcLogRangeBlocks: number = 2_000;
}

/** The rules for payments beyond the acceptance policy, and how long the verifier waits for a receipt. */
class RulesEnvironment extends AcceptanceEnvironment {
  @Setting({ help: 'Milliseconds to wait for the receipt, or the confirmations, of a payment that was just made.' })
  @IsIntIn(0, 60_000)
  readonly receiptWaitMs: number = 3_000;

  @Setting({
    help: 'Payments of one client address that may wait for the chain at once; further ones get 503 and may retry.',
  })
  @IsIntIn(0)
  readonly waitingPerClient: number = 16;

  @Setting({ help: 'Payments that may wait for the chain at once; further ones get 503 and may retry.' })
  @IsIntIn(0)
  readonly waitingTotal: number = 256;

  @Setting({
    help: 'Look-ups per minute of one client address that may end in a refusal; above it, payments that need a look-up get 503. 0 sets no limit.',
  })
  @IsIntIn(0)
  readonly refusedLookupsPerMinute: number = 1_200;

  @Setting({
    help: 'Bytes per minute beyond the usual size that answers about refused payments of one client address may have; above it, payments that need a look-up get 503. 0 sets no limit.',
  })
  @IsIntIn(0)
  readonly longAnswerBytesPerMinute: number = 8_388_608;

  /** How long the ledger remembers a payment. */
  get memoryMs(): number {
    return Math.max(this.redemptionWindowSeconds, this.boundRedemptionWindowSeconds) * 1000;
  }
}

const SIGNED_PAYMENTS_FROM = ['any', 'plain_accounts'] as const;

/**
 * Which payers with code may have gas spent on them. Gateways do not read these settings; every verifier should have
 * the same values.
 */
class ContractWalletsEnvironment {
  @Setting({
    help:
      'Which payers may pay by signature. any: accounts and contract wallets; plain_accounts: only accounts without ' +
      'code, because contract code can make the relayer burn gas. Use the same value at every verifier.',
  })
  @IsIn(SIGNED_PAYMENTS_FROM)
  readonly signedPaymentsFrom: (typeof SIGNED_PAYMENTS_FROM)[number] = 'any';

  @Setting({
    help:
      'Gas that payments of contract wallets may burn in an hour without being settled, over all wallets and ' +
      'verifiers; above it, their signed payments are refused and those of plain accounts go on. Use the same value at every verifier.',
  })
  @IsIntIn(0, 1_000_000_000)
  readonly contractWalletBurnGasPerHour: number = 3_000_000;

  @Setting({
    help:
      'Failed transactions in an hour after which all wallets with the same code are refused, unless more of their ' +
      'payments were settled in a day; 0 bars no code. Use the same value at every verifier.',
  })
  @IsIntIn(0, 1_000)
  readonly contractWalletBurnsPerCode: number = 3;
}

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
