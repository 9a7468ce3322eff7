import type { Hex, TransferAuthorization } from '@tollgate/protocol';

import type { EmittedLog } from '../chain/receipt.js';
import { findAuthorizations } from '../verification/find-authorizations.js';
import { readTransferLog, type TransferLog } from '../verification/token-log.js';

/** What has to stand in the logs for an authorization to have paid. Addresses are lower case. */
export interface PromisedTransfer {
  asset: Hex;
  payTo: Hex;
  authorization: TransferAuthorization;
}

/** The transfers that authorizations have caused in one transaction, by asset; read once for all who share it. */
export class AuthorizedTransfers {
  private readonly byAsset = new Map<Hex, Map<Hex, TransferLog[]>>();

  constructor(private readonly logs: readonly EmittedLog[]) {}

  /**
   * Whether the promised transfer was made: caused by the authorization, from its signer to the recipient, of exactly its
   * value. That the transaction succeeded says nothing: many calls may share it, and fail alone.
   */
  include({ asset, payTo, authorization }: PromisedTransfer): boolean {
    const { from, nonce, value } = authorization;
    const caused = this.of(asset).get(nonce) ?? [];
    return caused.some(
      (transfer) => transfer.from === from && transfer.to === payTo && transfer.amountBaseUnits === BigInt(value),
    );
  }

  /** By nonce, which several payers may share. */
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

/** As `AuthorizedTransfers` has it, for one authorization. */
export function hasSettlement(logs: readonly EmittedLog[], promised: PromisedTransfer): boolean {
  return new AuthorizedTransfers(logs).include(promised);
}
