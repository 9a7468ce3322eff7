import type { Hex } from '@tollgate/protocol';

import { readReportedHashes } from './document/phone-code.js';
import type { PageSteps } from './page-steps.js';
import type { KeptPurchase } from './purchases.js';
import type { RedeemAttempt } from './redeem.js';
import type { PageSale } from './sale.js';

const POLL_MS = 1500;

export interface PhonePayment {
  readonly txHash: Hex;
  /** The attempt that showed that it pays: its answer may not come a second time. */
  readonly first: RedeemAttempt;
}

/** Waits until a phone has paid for the purchase. Null when it need not be waited for any more. */
export async function awaitPhonePayment(
  purchase: KeptPurchase,
  sale: PageSale,
  steps: PageSteps,
): Promise<PhonePayment | null> {
  const refused = new Set<Hex>();
  while (isAwaited(sale, purchase)) {
    const isLooking = !document.hidden && !steps.isBusy;
    const hashes = isLooking ? await readReportedHashes(sale.base, purchase.reference) : [];
    for (const txHash of hashes.filter((hash) => !refused.has(hash))) {
      // It is no step of the page, so that the payer can do something else meanwhile.
      const first = await sale.attempt(purchase, txHash);
      if (first.kind === 'refused') refused.add(txHash);
      // The seller's failure too shows that the payment is right.
      else if (first.kind !== 'wait' || first.releases !== null) return { txHash, first };
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return null;
}

function isAwaited(sale: PageSale, { reference }: KeptPurchase): boolean {
  const kept = sale.store.list();
  const isOpen = kept.some((one) => one.reference === reference && one.proof === undefined);
  return isOpen && !kept.some(({ isRedeemed }) => isRedeemed === true);
}
