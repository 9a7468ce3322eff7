import { formatTokenAmount } from '@tollgate/protocol';

import { showTime } from '../../../../libs/http/src/web/show-time.js';
import type { KeptPurchase } from '../purchases.js';
import { create, find, linkTransaction } from './dom.js';

/** Shows what was paid, in place of what would be. */
export function showReceipt({ amountBaseUnits, atMs, txHash, payTo, from, chain, token }: KeptPurchase): void {
  const paid = `${formatTokenAmount(BigInt(amountBaseUnits), token.decimals)} ${token.symbol}`;
  find('title').textContent = `Paid ${paid}`;
  // They say what would be paid next, beside a receipt of what was.
  for (const part of document.querySelectorAll<HTMLElement>('[id^=facts], [id^=manual]')) part.hidden = true;
  find('receipt').hidden = false;
  // To buy it again is the last thing to offer.
  find('receipt').after(find('actions'));
  find('receipt-amount').textContent = paid;
  find('receipt-recipient').textContent = payTo;
  find('receipt-payer').replaceChildren(from === undefined ? 'the account that sent it' : create('code', {}, from));
  find('receipt-time').textContent = showTime(atMs);
  find('receipt-network').textContent = `${chain.name} (chain ${chain.id})`;
  find('receipt-transaction').replaceChildren(
    txHash === undefined ? 'settled by the gateway' : linkTransaction(chain.explorerUrl, txHash),
  );
}
