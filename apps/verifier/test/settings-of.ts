import { describeSettings, readEnvironment } from '@tollgate/config';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { VerifierEnvironment } from '../src/config/verifier.config.js';

/** The settings that a matching gateway sends to a verifier of this chain. */
export function settingsOf({ rpcUrl, asset, payTo }: Devnet, env: Record<string, string> = {}): string {
  const all = { RPC_URL: rpcUrl, ASSET_ADDRESS: asset, PAY_TO: payTo, ...env };
  const { payment, rules, signedPayments, redis, options } = readEnvironment(VerifierEnvironment, all);
  return options
    .map((option) => describeSettings({ payment, acceptance: rules, signedPayments, redis }, option))
    .join();
}
