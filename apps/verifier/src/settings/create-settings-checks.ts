import type { ChainReader } from '@tollgate/chain';
import { describeSettings } from '@tollgate/common';
import type { Registry } from 'prom-client';

import type { VerifierEnvironment } from '../verifier.config.js';
import { AskersSettings } from './askers-settings.js';
import { TokenDecimals } from './token-decimals.js';

export interface SettingsChecks {
  askers: AskersSettings;
  decimals: TokenDecimals;
}

/** Creates the checks of the payment settings against the gateways and against the token. */
export function createSettingsChecks(
  { payment, rules, signedPayments }: VerifierEnvironment,
  { registry, chain, nowMs }: { registry: Registry; chain: ChainReader; nowMs: () => number },
): SettingsChecks {
  const own = describeSettings({ payment, acceptance: rules, signedPayments });
  const { assetDecimals, signedAsset } = payment;
  return {
    askers: new AskersSettings({ own, registry }),
    decimals: new TokenDecimals({ asset: signedAsset.asset, decimals: assetDecimals, chain, nowMs }),
  };
}
