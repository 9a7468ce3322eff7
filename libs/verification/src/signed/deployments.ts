import { NO_FACTORIES, type WalletFactories } from '@tollgate/chain';
import type { DynamicFees, Hex } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

export interface DeploymentSettings {
  factories: WalletFactories;
  /** Whose sales wallets are deployed for, and the token of its prices, in lower case. */
  payTo: Hex;
  asset: Hex;
  /** The most gas that one transaction with a deployment may take; 0: no wallet is deployed. */
  gasCap: number;
  /** What a deployment may cost; null: the hourly budget alone bounds it. */
  mostCost: MostCost | null;
}

export interface MostCost {
  /** Base units of the token that 10^18 coins cost. */
  coinsBaseUnits: bigint;
  /** Of the price of the sale. */
  multiple: number;
}

const COINS = 10n ** 18n;
const WEI_PER_COIN = 10n ** 18n;

/** For which payments the relayer also pays for the payer's wallet (EIP-6492). */
export class Deployments {
  constructor(private readonly settings: DeploymentSettings) {}

  get gasCap(): number {
    return this.settings.gasCap;
  }

  /** The factories that may be called for a sale: none for other sellers', who would not pay for the gas. */
  factoriesFor({ payTo, asset }: Pick<SignedPaymentTerms, 'payTo' | 'asset'>): WalletFactories {
    const { settings } = this;
    const isOwnSale = payTo === settings.payTo && asset === settings.asset;
    return isOwnSale && settings.gasCap > 0 ? settings.factories : NO_FACTORIES;
  }

  /** Whether all the gas that a deployment may take costs no more than the sale allows. `fees` null: above their caps. */
  isWorth(priceBaseUnits: string, fees: Pick<DynamicFees, 'maxFeePerGas'> | null): boolean {
    const { mostCost, gasCap } = this.settings;
    if (mostCost === null) return true;
    if (fees === null) return false;
    const costWei = BigInt(gasCap) * fees.maxFeePerGas;
    return (
      costWei * mostCost.coinsBaseUnits <= BigInt(mostCost.multiple) * BigInt(priceBaseUnits) * WEI_PER_COIN * COINS
    );
  }
}
