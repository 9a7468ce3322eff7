import { ContractWallets } from '@tollgate/settlement';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';

import { countBurntGas, observeContractWallets } from '../metrics/observe-contract-wallets.js';
import type { VerifierEnvironment } from '../verifier.config.js';

/** Created from settings, with metrics. Every verifier has it, with or without a relayer. */
export function createContractWallets(
  { settlement, contractWallets }: Pick<VerifierEnvironment, 'settlement' | 'contractWallets'>,
  { redis, registry }: { redis: Redis; registry: Registry },
): ContractWallets {
  const settings = {
    areAccepted: contractWallets.signedPaymentsFrom === 'any',
    burnGasPerHour: contractWallets.contractWalletBurnGasPerHour,
    burnsPerCode: contractWallets.contractWalletBurnsPerCode,
    settleGasCap: settlement.settleGasCap,
  };
  const wallets = new ContractWallets(redis, settings, countBurntGas(registry));
  observeContractWallets(registry, wallets);
  return wallets;
}
