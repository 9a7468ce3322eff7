import type { Hex, RequirementV2 } from '@tollgate/protocol';

/**
 * The payment requirements of scheme `upto` (x402 v2), offered beside those of `exact`: the client signs a Permit2
 * authorization for the price as a maximum, which only the named relayer may settle.
 */
export function createMeteredOption(exact: RequirementV2, relayer: Hex): RequirementV2 {
  const extra = { ...exact.extra, assetTransferMethod: 'permit2', facilitatorAddress: relayer };
  return { ...exact, scheme: 'upto', extra };
}
