import { NO_FACTORIES, type WalletFactories } from '@tollgate/chain';
import type { DynamicFees, Hex } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

import type { SellerTerms } from '../seller-terms.js';

export interface DeploymentSettings {
  factories: WalletFactories;
  /** Whose sales wallets are deployed for. */
  terms: Pick<SellerTerms, 'isOption'>;
  /** The most gas that one transaction with a deployment may take; 0: no wallet is deployed. */
  gasCap: number;
  /** What a deployment may cost, by the token of the sale; null: the hourly budget alone bounds it. */
  mostCost: ReadonlyMap<Hex, MostCost> | null;
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
    const { terms, factories, gasCap } = this.settings;
    return gasCap > 0 && terms.isOption({ asset, payTo }) ? factories : NO_FACTORIES;
  }

  /** Whether all the gas that a deployment may take costs no more than the sale allows. `fees` null: above their caps. */
  isWorth(
    { asset, priceBaseUnits }: Pick<SignedPaymentTerms, 'asset' | 'priceBaseUnits'>,
    fees: Pick<DynamicFees, 'maxFeePerGas'> | null,
  ): boolean {
    if (this.settings.mostCost === null) return true;
    const most = this.settings.mostCost.get(asset);
    if (most === undefined || fees === null) return false;
    const costWei = BigInt(this.settings.gasCap) * fees.maxFeePerGas;
    return costWei * most.coinsBaseUnits <= BigInt(most.multiple) * BigInt(priceBaseUnits) * WEI_PER_COIN * COINS;
  }
}
