import {
  decodeJsonHeader,
  formatTokenAmount,
  isHash,
  PAYMENT_RESPONSE,
  X_PAYMENT_RELEASED,
  type Hex,
} from '@tollgate/protocol';

import { showAnswer } from './answer.js';
import { ensureChain, PageProblem, readAccount } from './chain.js';
import { find, linkTransaction } from './dom.js';
import { lockOf, readFreshChallenge } from './fresh-challenge.js';
import {
  findLockedTransfer,
  readBlockNumber,
  sendLockedTransfer,
  type LockedTransferTerms,
} from './locked-transfer.js';
import type { PayPageData } from './page-data.js';
import { KeptPurchases, sweepPurchases, type KeptPurchase } from './purchases.js';
import { createTransferProof, redeem } from './redeem.js';
import { signInWallet } from './signed-transfer.js';
import { isWalletRefusal, type WalletProvider } from './wallets.js';

/** How an attempt to get the answer ended, for the payer. */
export interface SaleEnd {
  readonly text: string;
  readonly isGood: boolean;
  readonly mayRetry: boolean;
  readonly mayForget: boolean;
}

/** A purchase of this page's URL: each step is stored before the next begins. */
export class PageSale {
  readonly url = location.pathname + location.search;
  readonly store: KeptPurchases;

  constructor(private readonly data: PayPageData) {
    const lifetimeMs = data.receiptSeconds * 1000;
    this.store = new KeptPurchases(this.url, lifetimeMs);
    sweepPurchases(lifetimeMs);
  }

  /**
   * Has the wallet pay. Null where another tab of this browser has begun to: its purchase counts.
   *
   * @throws PageProblem, or the wallet's error
   */
  pay(provider: WalletProvider, way: 'transfer' | 'signature'): Promise<KeptPurchase | null> {
    return alone(this.url, async () => {
      if (this.store.list().some((kept) => kept.way !== 'phone')) return null;
      const from = await readAccount(provider);
      await ensureChain(provider, this.data.chain);
      const { requirement, lock, required } = await readFreshChallenge(this.url, this.data);
      const { network, maxAmountRequired: amountBaseUnits, extra } = requirement;
      const fromBlock = way === 'transfer' ? await readBlockNumber(provider) : null;
      const purchase: KeptPurchase = {
        ...{ reference: extra.reference, way, atMs: Date.now(), network, amountBaseUnits, from },
        ...(fromBlock === null ? {} : { fromBlock }),
      };
      if (!this.store.keep(purchase)) {
        throw new PageProblem(
          'This browser keeps no data, and a closed tab would lose your payment. Pay by hand below.',
        );
      }
      try {
        if (way === 'transfer') {
          const txHash = await sendLockedTransfer(provider, from, this.#termsOf(purchase, lock), this.data.chain.id);
          return this.keepProof(purchase, txHash);
        }
        if (required === null)
          throw new PageProblem('This gateway takes no signature here. Send the transfer instead.');
        const paid = { ...purchase, proof: await signInWallet(provider, from, required, this.data.chain.id) };
        this.store.keep(paid);
        return paid;
      } catch (error) {
        // A signature that was not given moves nothing; a transfer may have been sent by a wallet that then failed.
        if (way === 'signature' || isWalletRefusal(error)) this.store.remove(purchase.reference);
        throw error;
      }
    });
  }

  /** Looks on the chain for the transfer of a purchase whose tab was closed. */
  async search(purchase: KeptPurchase, provider: WalletProvider): Promise<KeptPurchase | null> {
    const from = purchase.from ?? (await readAccount(provider));
    await ensureChain(provider, this.data.chain);
    const terms = this.#termsOf(purchase, lockOf(purchase.reference));
    const txHash = await findLockedTransfer(provider, from, purchase.fromBlock ?? '0x0', terms);
    return txHash === null ? null : this.keepProof(purchase, txHash);
  }

  /** Keeps the page's own reference, which the ticket locks, before the code is shown. Null where nothing is kept. */
  keepForPhone(): KeptPurchase | null {
    return this.#keepOwn('phone');
  }

  /**
   * A transaction hash from outside, for the details that the page shows. If its lock is that of a purchase which was
   * begun before, `redeem` finds out.
   */
  keepByHand(txHash: Hex): KeptPurchase {
    const { reference } = this.data;
    const own = this.store.list().find((kept) => kept.reference === reference) ?? this.#createOwn('transfer');
    return this.keepProof(own, txHash);
  }

  keepProof(purchase: KeptPurchase, txHash: Hex): KeptPurchase {
    const paid = { ...purchase, txHash, proof: createTransferProof(purchase, txHash) };
    this.store.keep(paid);
    return paid;
  }

  /** Gets the answer of a payment and shows it with its receipt. */
  async redeem(
    purchase: KeptPurchase,
    onWait: (reason: string) => void,
    refused: readonly string[] = [],
  ): Promise<SaleEnd> {
    const { proof } = purchase;
    if (proof === undefined) throw new PageProblem('This purchase has no payment yet.');
    const end = await redeem(this.url, proof, onWait);
    switch (end.kind) {
      case 'answer': {
        const isBought = isCharged(end.response);
        const settled = readSettlement(end.response);
        const txHash = settled.txHash ?? purchase.txHash;
        if (isBought) this.store.keep({ ...purchase, isRedeemed: true, ...(txHash === undefined ? {} : { txHash }) });
        await showAnswer(end.response, `${this.data.base}/pay/assets/frame`);
        if (!isBought)
          return createEnd(`The seller answered ${end.response.status}. Your payment stays valid.`, 'retry');
        this.#showReceipt({ ...purchase, ...settled, ...(txHash === undefined ? {} : { txHash }) });
        return createEnd('Paid. Here is your answer.', 'done');
      }
      case 'gone':
        this.store.keep({ ...purchase, isRedeemed: true });
        return createEnd('This answer was delivered once and is not stored, so it cannot be shown again.', 'done');
      case 'later':
        return createEnd(`${end.reason} Nothing is lost: try again, or come back to this page.`, 'retry');
      case 'refused': {
        const other = end.failure === 'lock_mismatch' ? this.#findOther(purchase, refused) : undefined;
        if (other !== undefined && purchase.txHash !== undefined) {
          this.store.remove(purchase.reference);
          return this.redeem(this.keepProof(other, purchase.txHash), onWait, [...refused, purchase.reference]);
        }
        return createEnd(explainRefusal(end.failure, purchase), 'refused');
      }
    }
  }

  /** Another purchase that waits for its payment, whose lock the transaction may have. */
  #findOther({ reference }: KeptPurchase, refused: readonly string[]): KeptPurchase | undefined {
    const isOpen = (kept: KeptPurchase): boolean => kept.proof === undefined && kept.isRedeemed !== true;
    return this.store.list().find((kept) => isOpen(kept) && ![reference, ...refused].includes(kept.reference));
  }

  #keepOwn(way: KeptPurchase['way']): KeptPurchase | null {
    const purchase =
      this.store.list().find(({ reference }) => reference === this.data.reference) ?? this.#createOwn(way);
    return this.store.keep(purchase) ? purchase : null;
  }

  #createOwn(way: KeptPurchase['way']): KeptPurchase {
    const { reference, network, amountBaseUnits } = this.data;
    return { reference, way, atMs: Date.now(), network, amountBaseUnits };
  }

  #termsOf({ amountBaseUnits }: KeptPurchase, lock: Hex): LockedTransferTerms {
    return { asset: this.data.token.address, payTo: this.data.payTo, amountBaseUnits, lock };
  }

  #showReceipt({ amountBaseUnits, atMs, txHash }: KeptPurchase): void {
    const { token, chain } = this.data;
    const paid = `${formatTokenAmount(BigInt(amountBaseUnits), token.decimals)} ${token.symbol}`;
    find('title').textContent = `Paid ${paid}`;
    // They say what would be paid next, beside a receipt of what was.
    for (const id of ['facts', 'manual']) find(id).hidden = true;
    find('receipt').hidden = false;
    // To buy it again is the last thing to offer.
    find('receipt').after(find('actions'));
    find('receipt-amount').textContent = paid;
    find('receipt-time').textContent = new Date(atMs).toLocaleString();
    find('receipt-transaction').replaceChildren(
      txHash === undefined ? 'settled by the gateway' : linkTransaction(chain.explorerUrl, txHash),
    );
  }
}

/** Runs the work while no other tab of this browser runs it for the same URL. */
async function alone<T>(name: string, work: () => Promise<T>): Promise<T> {
  // Only pages over HTTPS, or on this machine, have locks.
  if (!('locks' in navigator)) return work();
  return navigator.locks.request(`tollgate:${name}`, { ifAvailable: true }, (lock) => {
    if (lock === null)
      throw new PageProblem('Another tab of this browser is paying for the same page. Answer your wallet there.');
    return work();
  });
}

/** Whether the answer is what was bought: neither an error of the gateway, nor one for which the payment was released. */
function isCharged({ type, status, headers }: Response): boolean {
  if (type === 'opaqueredirect' || status < 400) return true;
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') === true;
  return !isProblem && headers.get(X_PAYMENT_RELEASED) !== 'true';
}

interface Settlement {
  readonly txHash?: Hex;
  /** What was charged, which may be less than the signature allows. */
  readonly amountBaseUnits?: string;
}

/** How the gateway settled a signature; empty for a transfer of the payer's own. */
function readSettlement({ headers }: Response): Settlement {
  const header = headers.get(PAYMENT_RESPONSE);
  if (header === null) return {};
  try {
    const { transaction, amount } = decodeJsonHeader(header, 16_384);
    const isAmount = typeof amount === 'string' && /^\d{1,78}$/.test(amount);
    return {
      ...(isHash(transaction) ? { txHash: transaction } : {}),
      ...(isAmount ? { amountBaseUnits: amount } : {}),
    };
  } catch {
    return {};
  }
}

function createEnd(text: string, kind: 'done' | 'retry' | 'refused'): SaleEnd {
  return { text, isGood: kind === 'done', mayRetry: kind !== 'done', mayForget: kind !== 'retry' };
}

function explainRefusal(failure: string, { way, txHash }: KeptPurchase): string {
  if (failure === 'transaction_failed')
    return 'The transaction failed on the chain, so no tokens moved. You can begin anew.';
  if (way === 'signature')
    return `The gateway refused the signature (${failure}). Nothing was paid; you can begin anew.`;
  const named = txHash === undefined ? '' : ` Its transaction is ${txHash}.`;
  return `The gateway refused the payment (${failure}).${named} If tokens moved, ask the operator of this gateway before you pay again.`;
}
