import { IsIntIn, Setting } from '@tollgate/common';
import { IsIn } from 'class-validator';

export const SIGNED_PAYMENTS_FROM = ['any', 'plain_accounts'] as const;

/**
 * Which payers with code may have gas spent on them. Gateways do not read these settings; every verifier should have
 * the same values.
 */
export class ContractWalletsEnvironment {
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
