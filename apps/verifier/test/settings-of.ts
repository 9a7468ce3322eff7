import { describeSettings, readEnvironment } from '@tollgate/common';

import type { Devnet } from '../../../devnet/chain.js';
import { VerifierEnvironment } from '../src/verifier.config.js';

/** What a gateway sends along that is set up as a verifier of this chain is. */
export function settingsOf({ rpcUrl, asset, payTo }: Devnet, env: Record<string, string> = {}): string {
  const all = { RPC_URL: rpcUrl, ASSET_ADDRESS: asset, PAY_TO: payTo, ...env };
  const { payment, rules, signedPayments } = readEnvironment(VerifierEnvironment, all);
  return describeSettings({ payment, acceptance: rules, signedPayments });
}
