import type { Hex } from '@tollgate/protocol';

import type { EmittedLog } from '../../receipts/receipt.js';
import { listTransfers, readAuthorizationUsedLog } from '../token-log.js';

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
