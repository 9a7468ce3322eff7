import { lowerHex } from '@tollgate/protocol';
import { IsIn, IsOptional, Matches } from 'class-validator';

import { PaymentsFileEnvironment } from './payments/payments-file.environment.js';
import type { ChecksTogether } from './read-environment.js';
import { IsIntIn, Setting } from './setting.js';
import type { SignedAsset } from './signed-payments.environment.js';

export const PAYMENT_POLICIES = ['receipt', 'transfer', 'bound'] as const;
export type PaymentPolicy = (typeof PAYMENT_POLICIES)[number];

const ADDRESS = /^0x(?!0{40}$)[0-9a-f]{40}$/i;
const addressMessage = '$property must be 0x and 40 hexadecimal digits, and not the zero address';

/** Which token is paid, to which account, on which chain. Gateways and verifiers need the same values. */
export class PaymentEnvironment extends PaymentsFileEnvironment implements ChecksTogether {
  @Setting({ help: 'The `network` of challenges and proofs.' })
  @Matches(/^[\x21-\x7e]{1,64}$/, { message: '$property must be 1 to 64 visible characters' })
  readonly network: string = 'chain-testnet';

  @Setting({ help: 'Chain id; compared at start with that of the RPC servers.' })
  @IsIntIn(1)
  readonly chainId: number = 1328;

  @Setting({
    help: 'Contract of the token that payments are made in.',
    example: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  })
  @Matches(ADDRESS, { message: addressMessage })
  readonly assetAddress!: `0x${string}`;

  @Setting({ help: 'Symbol of the token, `extra.name` of the challenge.' })
  @Matches(/^\S{1,32}$/, { message: '$property must be 1 to 32 characters without spaces' })
  readonly assetSymbol: string = 'USDC';

  @Setting({
    help: "Name in the token's EIP-712 domain, if it differs from ASSET_SYMBOL.",
    example: 'USD Coin',
  })
  @IsOptional()
  @Matches(/^[ -~]{1,64}$/, { message: '$property must be 1 to 64 visible characters' })
  readonly assetName?: string;

  @Setting({ help: 'Decimals of the token: prices are multiplied by 10 to this power.' })
  @IsIntIn(0, 36)
  readonly assetDecimals: number = 6;

  @Setting({ help: 'Version string of the token, `extra.version` of the challenge.' })
  @Matches(/^\S{1,32}$/, { message: '$property must be 1 to 32 characters without spaces' })
  readonly assetVersion: string = '2';

  @Setting({ help: 'Address that receives the payments.', example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
  @Matches(ADDRESS, { message: addressMessage })
  readonly payTo!: `0x${string}`;

  @Setting({
    help: 'When a payment is accepted. receipt: the transaction succeeded and was not used before; transfer: it also pays PAY_TO enough of the asset; bound: it is also bound to a challenge.',
  })
  @IsIn(PAYMENT_POLICIES)
  readonly paymentPolicy: PaymentPolicy = 'transfer';

  @Setting({ help: 'Seconds from challenge to payment, `maxTimeoutSeconds` of the challenge.' })
  @IsIntIn(1, 86_400)
  readonly maxTimeoutSeconds: number = 300;

  /** The token's name in its EIP-712 domain. */
  get domainName(): string {
    return this.assetName ?? this.assetSymbol;
  }

  /** The token in the form that signed payments use. */
  get signedAsset(): SignedAsset {
    const { assetAddress, domainName: name, assetVersion: version } = this;
    return { asset: lowerHex(assetAddress), name, version };
  }

  /** Warnings to log once at start. */
  get warnings(): string[] {
    if (this.paymentPolicy !== 'receipt') return [];
    return ['PAYMENT_POLICY=receipt accepts any successful transaction as a payment, even one that paid nothing.'];
  }

  problemsTogether(): string[] {
    if (this.payTo.toLowerCase() !== this.assetAddress.toLowerCase()) return [];
    return [
      'PAY_TO is the token itself (ASSET_ADDRESS), so payments to it would be lost. Set it to an account of yours.',
    ];
  }
}
