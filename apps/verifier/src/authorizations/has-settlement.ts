import type { Hex, TransferAuthorization } from '@tollgate/protocol';

import type { EmittedLog } from '../chain/receipt.js';
import { findAuthorizations } from '../verification/find-authorizations.js';
import { readTransferLog } from '../verification/token-log.js';

/** What has to stand in the logs for an authorization to have paid. Addresses are lower case. */
export interface PromisedTransfer {
  asset: Hex;
  payTo: Hex;
  authorization: TransferAuthorization;
}

/**
 * Whether logs of one transaction hold the transfer that the authorization promised: caused by it, from its signer to the
 * recipient, of exactly its value. That the transaction succeeded says nothing: many calls may share it, and fail alone.
 */
export function hasSettlement(logs: readonly EmittedLog[], { asset, payTo, authorization }: PromisedTransfer): boolean {
  const { from, nonce, value } = authorization;
  return [...findAuthorizations(logs, asset)].some(([position, causedBy]) => {
    const log = logs[position];
    const transfer = causedBy === nonce && log ? readTransferLog(log) : null;
    return transfer?.from === from && transfer.to === payTo && transfer.amountBaseUnits === BigInt(value);
  });
}
