import type { Hex, RequirementV2 } from '@tollgate/protocol';

/**
 * The option to sign the price as a maximum (scheme `upto` of version 2), beside that to pay it. Clients sign it for
 * Permit2, and for the one account that may settle it.
 */
export function createMeteredOption(exact: RequirementV2, relayer: Hex): RequirementV2 {
  const extra = { ...exact.extra, assetTransferMethod: 'permit2', facilitatorAddress: relayer };
  return { ...exact, scheme: 'upto', extra };
}
