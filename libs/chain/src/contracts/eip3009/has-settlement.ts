import type { Hex, TransferAuthorization } from '@tollgate/protocol';

import type { EmittedLog } from '../../receipts/receipt.js';
import { readTransferLog, type TransferLog } from '../token-log.js';
import { findAuthorizations } from './find-authorizations.js';

/** The transfer that the logs must show for an authorization to have paid. Addresses are lower case. */
export interface PromisedTransfer {
  asset: Hex;
  payTo: Hex;
  authorization: TransferAuthorization;
}

/** The transfers that authorizations caused in one transaction, by asset. Read once for all payments that share it. */
export class AuthorizedTransfers {
  private readonly byAsset = new Map<Hex, Map<Hex, TransferLog[]>>();

  constructor(private readonly logs: readonly EmittedLog[]) {}

  /**
   * Whether the logs show the promised transfer: caused by the authorization, from its signer to the recipient, of
   * exactly its value. The transaction's status does not prove it: many calls may share a transaction and fail alone.
   */
  include({ asset, payTo, authorization }: PromisedTransfer): boolean {
    const { from, nonce, value } = authorization;
    const caused = this.of(asset).get(nonce) ?? [];
    return caused.some(
      (transfer) => transfer.from === from && transfer.to === payTo && transfer.amountBaseUnits === BigInt(value),
    );
  }

  /** Keyed by nonce. Several payers may use the same nonce. */
  private of(asset: Hex): Map<Hex, TransferLog[]> {
    const known = this.byAsset.get(asset);
    if (known) return known;
    const transfers = new Map<Hex, TransferLog[]>();
    for (const [position, nonce] of findAuthorizations(this.logs, asset)) {
      const log = this.logs[position];
      const transfer = log ? readTransferLog(log) : null;
      if (transfer) transfers.set(nonce, [...(transfers.get(nonce) ?? []), transfer]);
    }
    this.byAsset.set(asset, transfers);
    return transfers;
  }
}

/** The check of `AuthorizedTransfers` for one authorization. */
export function hasSettlement(logs: readonly EmittedLog[], promised: PromisedTransfer): boolean {
  return new AuthorizedTransfers(logs).include(promised);
}
