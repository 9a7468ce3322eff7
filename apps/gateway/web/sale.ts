import { lockOf, type Hex } from '@tollgate/protocol';

import { showAnswer } from './document/answer.js';
import { find } from './document/dom.js';
import { showReceipt } from './document/receipt.js';
import { readFreshChallenge } from './fresh-challenge.js';
import { isLockHeld, runAlone, runInTurn } from './locks.js';
import type { PayOption, PayPageData } from './page-data.js';
import { isBegun, KeptPurchases, sweepPurchases, type KeptPurchase } from './purchases.js';
import {
  createTransferProof,
  Redemption,
  type RedeemAttempt,
  type PaidPurchase,
  type RedeemEnd,
  type Waiting,
} from './redeem.js';
import {
  explainGatewayRefusal,
  isUncharged,
  isWhatWasBought,
  readSettledPart,
  tellFate,
  type SaleEnd,
} from './sale-end.js';
import { ensureChain, PageProblem, readAccount } from './wallet/chain.js';
import {
  findLockedTransfer,
  readBlockNumber,
  sendLockedTransfer,
  type LockedTransferTerms,
} from './wallet/locked-transfer.js';
import { signInWallet } from './wallet/signed-transfer.js';
import { isWalletRefusal, type WalletProvider } from './wallet/wallets.js';

/** A purchase of this page's URL: each step is stored before the next begins. */
export class PageSale {
  readonly url = location.pathname + location.search;
  readonly base: string;
  readonly store: KeptPurchases;
  readonly #redemption: Redemption;
  /** Held while a wallet of this browser is open for this URL. */
  readonly #payLock = `tollgate:${this.url}`;

  constructor(private readonly data: PayPageData) {
    this.base = data.base;
    const lifetimeMs = data.receiptSeconds * 1000;
    this.store = new KeptPurchases(this.url, lifetimeMs);
    this.#redemption = new Redemption(this.url, this.store, data.settlesFirst);
    sweepPurchases(lifetimeMs);
  }

  /** Whether a wallet is open for this URL, in this tab or in another one. */
  isBeingPaid(): Promise<boolean> {
    return isLockHeld(this.#payLock);
  }

  /** Resolves when no wallet is open any more. */
  untilPaid(): Promise<void> {
    return runInTurn(this.#payLock, async () => undefined);
  }

  /**
   * Has the wallet pay in this option. Null where another tab of this browser has begun to: its purchase counts.
   *
   * @throws PageProblem, or the wallet's error
   */
  pay(provider: WalletProvider, way: 'transfer' | 'signature', shown: PayOption): Promise<KeptPurchase | null> {
    return runAlone(this.#payLock, async () => {
      if (this.store.list().some(isBegun)) return null;
      const from = await readAccount(provider);
      await ensureChain(provider, shown.chain);
      const { option, lock, required } = await readFreshChallenge(this.url, shown);
      const fromBlock = way === 'transfer' ? await readBlockNumber(provider) : null;
      const begun = { ...createPurchase(option, way), from };
      const purchase: KeptPurchase = fromBlock === null ? begun : { ...begun, fromBlock };
      // A phone may have paid while the wallet was asked.
      if (this.store.list().some(isBegun)) return null;
      if (!this.store.keep(purchase)) {
        throw new PageProblem(
          'This browser keeps no data, and a closed tab would lose your payment. Pay by hand below.',
        );
      }
      try {
        if (way === 'transfer') {
          const txHash = await sendLockedTransfer(provider, from, termsOf(purchase, lock), shown.chain.id);
          return this.keepProof(purchase, txHash);
        }
        const paid = { ...purchase, proof: await signInWallet(provider, from, required, shown) };
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
    await ensureChain(provider, purchase.chain);
    const terms = termsOf(purchase, lockOf(purchase.reference));
    const txHash = await findLockedTransfer(provider, from, purchase.fromBlock ?? '0x0', terms);
    return txHash === null ? null : this.keepProof(purchase, txHash);
  }

  /** Keeps the page's own reference for the option before a code or calldata that it locks is shown. */
  keepOwn(way: 'phone' | 'hand', option: PayOption): KeptPurchase {
    const kept = this.store.find(option.reference);
    // A phone is waited for, whatever else was shown.
    const purchase = kept?.way === 'hand' ? { ...kept, way } : (kept ?? createPurchase(option, way));
    this.store.keep(purchase);
    return purchase;
  }

  /**
   * Begins anew, after the payer has said that it did not pay. The reference is kept all the same: a payment that turns
   * up later is redeemed by its hash. Nothing is let go that another tab has paid or redeemed meanwhile.
   */
  letGo({ reference, isRedeemed, proof }: KeptPurchase): void {
    const kept = this.store.find(reference);
    if (kept === undefined || kept.isRedeemed !== isRedeemed || kept.proof?.value !== proof?.value) return;
    this.store.keep({ ...withoutPayment(kept), way: 'hand' });
  }

  keepProof(purchase: KeptPurchase, txHash: Hex): PaidPurchase {
    const paid = createPaid({ ...purchase, ...this.store.find(purchase.reference) }, txHash);
    this.store.keep(paid);
    return paid;
  }

  /** Tries a transaction that a phone reports. It is a claim, so it is kept only if it may be right. */
  attempt(purchase: KeptPurchase, txHash: Hex): Promise<RedeemAttempt> {
    return this.#redemption.attempt(createPaid(purchase, txHash));
  }

  /**
   * Gets the answer of a payment and shows it with its receipt.
   *
   * @param first an attempt that was made already
   */
  async redeem(purchase: KeptPurchase, waiting: Waiting, first?: RedeemAttempt): Promise<SaleEnd> {
    if (!isPaid(purchase)) throw new PageProblem('This purchase has no payment yet.');
    const end = await this.#redemption.redeem(purchase, waiting, first);
    const { reference, txHash, network } = purchase;
    if (!isLockMismatch(end) || txHash === undefined) return this.#conclude(purchase, end);
    // The hash was entered by hand: its lock may be that of another purchase, also of one whose transaction was replaced.
    const others = this.store
      .list()
      .filter((kept) => kept.reference !== reference && kept.network === network && mayBePaidBy(kept, txHash));
    for (const other of others) {
      const otherEnd = await this.#redemption.redeem(createPaid(other, txHash), waiting);
      if (isLockMismatch(otherEnd)) continue;
      // It is not known yet whose the transaction is.
      if (otherEnd.kind === 'later' || otherEnd.kind === 'overtaken') return this.#conclude(purchase, otherEnd);
      this.store.remove(reference);
      return this.#conclude(this.keepProof(other, txHash), otherEnd);
    }
    return this.#conclude(purchase, end);
  }

  async #conclude(purchase: KeptPurchase, end: RedeemEnd): Promise<SaleEnd> {
    return { purchase, ...(await this.#explain(purchase, end)) };
  }

  async #explain(purchase: KeptPurchase, end: RedeemEnd): Promise<Omit<SaleEnd, 'purchase'>> {
    switch (end.kind) {
      case 'answer':
        return this.#showBought(purchase, end.response);
      case 'gone':
        this.store.keep({ ...purchase, isRedeemed: true });
        return {
          text: 'This answer was delivered once and is not stored, so it cannot be shown again.',
          kind: 'done',
        };
      case 'later':
        return {
          text: `${end.reason} Try again, or come back to this page.`,
          kind: end.isMissing ? 'missing' : this.#isUncharged(purchase) ? 'uncharged' : 'retry',
        };
      case 'overtaken':
        return { text: 'Another tab of this browser goes on with it.', kind: 'overtaken' };
      case 'refused':
        return {
          text: explainGatewayRefusal(end.failure, this.#keptOf(purchase), this.data.settlesFirst),
          kind: 'refused',
        };
    }
  }

  async #showBought(purchase: KeptPurchase, response: Response): Promise<Omit<SaleEnd, 'purchase'>> {
    const isBought = isWhatWasBought(response);
    const settled = readSettledPart(response);
    const txHash = settled.txHash ?? purchase.txHash;
    const bought = { ...purchase, isRedeemed: true, ...(txHash === undefined ? {} : { txHash }) };
    if (isBought) this.store.keep(bought);
    try {
      find('answer-title').textContent = isBought ? 'Your answer' : 'What the seller answered';
      await showAnswer(response, `${this.base}/pay/assets/frame`);
    } catch {
      return { text: `${isBought ? 'You have paid. ' : ''}The answer broke off; try again.`, kind: 'retry' };
    }
    if (!isBought) return this.#explainError(purchase, response.status);
    showReceipt({ ...bought, ...settled });
    return { text: 'Paid. Here is your answer.', kind: 'done' };
  }

  #explainError(purchase: KeptPurchase, status: number): Omit<SaleEnd, 'purchase'> {
    if (this.#isUncharged(purchase)) return { text: `Not charged: the seller answered ${status}.`, kind: 'uncharged' };
    return {
      text: `The seller answered ${status}. ${tellFate(this.#keptOf(purchase), this.data.settlesFirst)}`,
      kind: 'retry',
    };
  }

  #isUncharged(purchase: KeptPurchase): boolean {
    return isUncharged(this.#keptOf(purchase), this.data.settlesFirst);
  }

  /** What an attempt has noted. */
  #keptOf(purchase: KeptPurchase): KeptPurchase {
    return this.store.find(purchase.reference) ?? purchase;
  }
}

/** A purchase that begins now. */
function createPurchase(option: PayOption, way: KeptPurchase['way']): KeptPurchase {
  const { reference, network, chain, token, amountBaseUnits, payTo } = option;
  return { reference, way, atMs: Date.now(), network, chain, token, amountBaseUnits, payTo };
}

function termsOf({ token, payTo, amountBaseUnits }: KeptPurchase, lock: Hex): LockedTransferTerms {
  return { asset: token.address, payTo, amountBaseUnits, lock };
}

function createPaid(purchase: KeptPurchase, txHash: Hex): PaidPurchase {
  return { ...purchase, txHash, proof: createTransferProof(purchase, txHash) };
}

function withoutPayment({ proof: _proof, txHash: _txHash, ...purchase }: KeptPurchase): KeptPurchase {
  return purchase;
}

function isPaid(purchase: KeptPurchase): purchase is PaidPurchase {
  return purchase.proof !== undefined;
}

/** Whether the purchase may have been paid by the transaction, also where another one is kept with it. */
function mayBePaidBy({ way, proof, isRedeemed, txHash: known }: KeptPurchase, txHash: Hex): boolean {
  return (isRedeemed !== true || known === txHash) && (way !== 'signature' || proof === undefined);
}

function isLockMismatch(end: RedeemEnd): boolean {
  return end.kind === 'refused' && end.failure === 'lock_mismatch';
}
