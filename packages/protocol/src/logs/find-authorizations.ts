import type { TransferAuthorization } from '../methods/eip3009/authorization.js';
import type { Hex } from '../wire/hex.js';
import {
  listTransfers,
  readAuthorizationUsedLog,
  readTransferLog,
  type EmittedLog,
  type TransferLog,
} from './token-log.js';

/** The transfer that the logs must show for an authorization to have paid. Addresses are lower case. */
export interface PromisedTransfer {
  asset: Hex;
  payTo: Hex;
  authorization: TransferAuthorization;
}

/** The transfers that authorizations caused in one transaction, by asset. Read once for all payments that share it. */
export class AuthorizedTransfers {
  readonly #byAsset = new Map<Hex, Map<Hex, TransferLog[]>>();

  constructor(private readonly logs: readonly EmittedLog[]) {}

  /**
   * Whether the logs show the promised transfer: caused by the authorization, from its signer to the recipient, of
   * exactly its value. The transaction's status does not prove it: many calls may share a transaction and fail alone.
   */
  include({ asset, payTo, authorization }: PromisedTransfer): boolean {
    const { from, nonce, value } = authorization;
    const caused = this.#of(asset).get(nonce) ?? [];
    return caused.some(
      (transfer) => transfer.from === from && transfer.to === payTo && transfer.amountBaseUnits === BigInt(value),
    );
  }

  /** Keyed by nonce. Several payers may use the same nonce. */
  #of(asset: Hex): Map<Hex, TransferLog[]> {
    const known = this.#byAsset.get(asset);
    if (known) return known;
    const transfers = new Map<Hex, TransferLog[]>();
    for (const [position, nonce] of findAuthorizations(this.logs, asset)) {
      const log = this.logs[position];
      const transfer = log ? readTransferLog(log) : null;
      if (transfer) transfers.set(nonce, [...(transfers.get(nonce) ?? []), transfer]);
    }
    this.#byAsset.set(asset, transfers);
    return transfers;
  }
}

/**
 * The EIP-3009 nonces of transfers, by the position of the transfer's log. Most tokens emit `AuthorizationUsed` just
 * before its transfer, some just after: so the next unmatched transfer of the authorizer belongs to it, otherwise the
 * last one before.
 */
export function findAuthorizations(logs: readonly EmittedLog[], asset: Hex): Map<number, Hex> {
  const nonces = new Map<number, Hex>();
  const used = logs.flatMap((log, position) => {
    const authorization = log.address === asset ? readAuthorizationUsedLog(log) : null;
    return authorization ? [{ ...authorization, position }] : [];
  });
  if (used.length === 0) return nonces;
  const transfers = listTransfers(logs, asset);

  for (const [index, { authorizer, nonce, position }] of used.entries()) {
    const next = used.slice(index + 1).find((other) => other.authorizer === authorizer)?.position ?? Infinity;
    const own = transfers.filter((transfer) => transfer.from === authorizer && !nonces.has(transfer.position));
    const caused =
      own.find((transfer) => transfer.position > position && transfer.position < next) ??
      own.findLast((transfer) => transfer.position < position);
    if (caused) nonces.set(caused.position, nonce);
  }
  return nonces;
}
