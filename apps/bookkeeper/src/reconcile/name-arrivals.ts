import type { NamedTransfer } from '@tollgate/book';
import { findAuthorizations, listTransfers, type CostedReceipt } from '@tollgate/chain';
import { nameOfPayment } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

/**
 * The transfers of an asset to a recipient, each under the name that the ledger has for it: the authorization that
 * caused it, else the place of its log among the transaction's. A permit's has the transaction's name too, until the
 * permit itself is presented.
 */
export function nameArrivals(
  { txHash, blockNumber, logs }: CostedReceipt,
  { chainId, asset, recipient }: { chainId: number; asset: string; recipient: string },
  atMs: number,
): NamedTransfer[] {
  const nonces = findAuthorizations(logs, asset as Hex);
  return listTransfers(logs, asset).flatMap(({ position, from, to, amountBaseUnits }): NamedTransfer[] => {
    const log = logs[position];
    // To oneself: nothing arrived.
    if (log === undefined || to !== recipient || from === recipient || amountBaseUnits === 0n) return [];
    const nonce = nonces.get(position);
    const payment = nameOfPayment(
      nonce === undefined
        ? { kind: 'transfer', chainId, txHash, logIndex: position }
        : { kind: 'authorization', chainId, asset: asset as Hex, from, nonce },
    );
    const { logIndex } = log;
    return [
      { payment, transaction: txHash, logIndex, blockNumber, payer: from, amount: String(amountBaseUnits), atMs },
    ];
  });
}
