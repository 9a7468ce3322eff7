import { AcceptanceEnvironment, IsIntIn, Setting, toBaseUnits, type PaymentOption } from '@tollgate/config';
import { lowerHex } from '@tollgate/protocol';
import type { Deployments } from '@tollgate/verification';
import { IsIn, IsOptional, Matches } from 'class-validator';

/** The rules for payments beyond the acceptance policy, and how long the verifier waits for a receipt. */
export class RulesEnvironment extends AcceptanceEnvironment {
  @Setting({ help: 'Milliseconds to wait for receipt and confirmations of a new payment.' })
  @IsIntIn(0, 60_000)
  readonly receiptWaitMs: number = 3_000;

  @Setting({
    help: 'Payments of one client address that may wait for the chain; further ones get 503.',
  })
  @IsIntIn(0)
  readonly waitingPerClient: number = 16;

  @Setting({ help: 'Payments that may wait for the chain; further ones get 503.' })
  @IsIntIn(0)
  readonly waitingTotal: number = 256;

  @Setting({
    help: 'Look-ups of one client address that may end in a refusal or find nothing; above it, 503. 0: no limit.',
  })
  @IsIntIn(0)
  readonly refusedLookupsPerMinute: number = 1_200;

  @Setting({
    help: 'Bytes beyond the usual size that answers about refused payments of one client address may have; above it, 503. 0: no limit.',
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
export class ContractWalletsEnvironment {
  @Setting({
    help: 'Which payers may sign. any: accounts and contract wallets; plain_accounts: only accounts without code. The same at every verifier.',
  })
  @IsIn(SIGNED_PAYMENTS_FROM)
  readonly signedPaymentsFrom: (typeof SIGNED_PAYMENTS_FROM)[number] = 'any';

  @Setting({
    help: "Gas of contract wallets' failed payments in an hour and chain; above it, their signed payments are refused. The same at every verifier.",
  })
  @IsIntIn(0, 1_000_000_000)
  readonly contractWalletBurnGasPerHour: number = 3_000_000;

  @Setting({
    help: 'Failed transactions in an hour after which all wallets with the same code are refused, unless more of their payments were settled in a day; 0: never. The same at every verifier.',
  })
  @IsIntIn(0, 1_000)
  readonly contractWalletBurnsPerCode: number = 3;
}

/** What deploying payers' wallets (EIP-6492) may cost. Every verifier should have the same values. */
export class DeploymentsEnvironment {
  @Setting({
    help: "The most gas of a transaction that deploys a payer's wallet (EIP-6492) and settles its payment; 0 deploys none. The same at every verifier.",
  })
  @IsIntIn(0, 10_000_000)
  readonly deployGasCap: number = 700_000;

  @Setting({
    help: 'Gas of all such transactions in an hour and chain; above it, payments of wallets that are not deployed are refused. The same at every verifier.',
  })
  @IsIntIn(0, 1_000_000_000)
  readonly deployGasPerHour: number = 3_000_000;

  @Setting({
    help: 'What one native coin costs, in tokens of ASSET_ADDRESS, or with PAYMENTS_FILE in the unit of prices. The same at every verifier.',
    example: '0.25',
  })
  @IsOptional()
  @Matches(/^(?=.*[1-9])\d{1,12}(\.\d{1,18})?$/, {
    message: '$property must be a decimal number above 0 with at most 18 decimal places',
  })
  readonly coinPrice?: string;

  @Setting({
    help: 'The most that the gas of a deployment may cost, in prices; needs COIN_PRICE.',
  })
  @IsIntIn(1, 1_000_000)
  readonly deployCostMultiple: number = 10;

  /** By token, in lower case. */
  mostCost(
    options: readonly Pick<PaymentOption, 'asset' | 'decimals' | 'rate'>[],
  ): ConstructorParameters<typeof Deployments>[0]['mostCost'] {
    const { coinPrice, deployCostMultiple: multiple } = this;
    if (coinPrice === undefined) return null;
    return new Map(
      options.map(({ asset, decimals, rate }) => {
        // Of 10^18 coins, and rounded up: a coin costs no less.
        const coinsBaseUnits = toBaseUnits(coinPrice, { decimals: decimals + 18, rate }, 'up');
        return [lowerHex(asset), { coinsBaseUnits, multiple }];
      }),
    );
  }
}
