import { findAuthorizations, listTransfers, type EmittedLog, type PlacedTransfer, type Hex } from '@tollgate/protocol';

import { findPermitTransfers } from '../contracts/permit2/find-permit-transfers.js';

/** A transfer of the asset to the seller, and what caused it. */
export interface Arrival extends PlacedTransfer {
  /** The EIP-3009 nonce of its payer; null: no authorization caused it. */
  readonly authorization: Hex | null;
  /** The proxy that settled a Permit2 permit with it; null: none did. */
  readonly proxy: Hex | null;
}

/** What arrived in a transaction that succeeded, in the order of its logs. Addresses are lower case. */
export function listArrivals(logs: readonly EmittedLog[], asset: Hex, recipient: string): Arrival[] {
  const authorizations = findAuthorizations(logs, asset);
  const permits = findPermitTransfers(logs, asset);
  return (
    listTransfers(logs, asset)
      // To oneself: nothing arrived.
      .filter(({ from, to, amountBaseUnits }) => to === recipient && from !== recipient && amountBaseUnits > 0n)
      .map((transfer) => ({
        ...transfer,
        authorization: authorizations.get(transfer.position) ?? null,
        proxy: permits.get(transfer.position)?.proxy ?? null,
      }))
  );
}
