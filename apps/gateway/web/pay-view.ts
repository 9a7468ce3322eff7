import { formatTokenAmount, isHash } from '@tollgate/protocol';

import { showTime } from '../../../libs/http/src/web/show-time.js';
import { expireCalldata, showHashField } from './document/by-hand.js';
import { create, createButton, find, showStatus, untilTime } from './document/dom.js';
import { showCode } from './document/phone-code.js';
import { OptionChoice } from './option-choice.js';
import type { PayOption, PayPageData } from './page-data.js';
import { PageSteps } from './page-steps.js';
import { awaitPhonePayment } from './phone-wait.js';
import { isBegun, type KeptPurchase } from './purchases.js';
import type { RedeemAttempt } from './redeem.js';
import type { SaleEnd } from './sale-end.js';
import { PageSale } from './sale.js';
import { renderPayButtons, renderWallets, type PayWay } from './wallet-list.js';
import { watchWallets, type BrowserWallet } from './wallet/wallets.js';

/** A transaction that no chain has for so long may have been replaced in the wallet. */
const REPLACED_AFTER_MS = 15_000;

/** The page at a priced URL: pays, redeems, shows the answer, and goes on where a closed tab stopped. */
export class PayView {
  readonly #sale: PageSale;
  readonly #choice: OptionChoice;
  readonly #actions = find('actions');
  readonly #steps = new PageSteps();
  readonly #expiresAtMs: number;
  #wallets: readonly BrowserWallet[] = [];
  /** Draws the buttons, and draws them again when another wallet is found. */
  #draw: () => readonly HTMLElement[] = () => [];
  #isPolling = false;
  #isAskingWallet = false;
  /** Ends the waiting of the step under way. */
  #waiting = new AbortController();
  /** The kept purchases that this page has acted on. */
  #seen = '';
  /** The reference of the purchase whose receipt is shown. */
  #shown: string | null = null;

  constructor(private readonly data: PayPageData) {
    this.#sale = new PageSale(data);
    this.#choice = new OptionChoice(data.options, () => this.#followChoice());
    this.#expiresAtMs = Date.now() + data.secondsLeft * 1000;
  }

  start(): void {
    this.#preparePhone();
    this.#prepareByHand();
    this.#sale.store.onChange(() => this.#continueOthers());
    this.#continueKept();
    watchWallets((wallets) => {
      for (const { provider } of wallets.slice(this.#wallets.length)) void this.#choice.followWallet(provider);
      this.#wallets = wallets;
      this.#actions.replaceChildren(...this.#draw());
    });
  }

  /** @param isChoosing whether another option may be chosen while this is shown */
  #show(draw: () => readonly HTMLElement[], isChoosing = false): void {
    this.#draw = draw;
    this.#choice.isOpen = isChoosing;
    this.#actions.replaceChildren(...draw());
  }

  #followChoice(): void {
    // While a phone is waited for, no other code is shown.
    if (!this.#isPolling) this.#offerPhone();
    this.#actions.replaceChildren(...this.#draw());
  }

  /** Goes on with what this browser has begun: an answer is shown again, a payment that was sent is redeemed. */
  #continueKept(): void {
    if (this.#steps.isBusy) return;
    this.#seen = this.#describeKept();
    const kept = this.#sale.store.list();
    const known = kept.find(({ isRedeemed }) => isRedeemed) ?? kept.find(({ proof }) => proof !== undefined);
    const open = kept.find(isBegun) ?? kept.find(({ way }) => way === 'phone');
    const [last] = kept;
    if (last !== undefined) this.#choice.follow(known ?? open ?? last);
    if (known !== undefined) void this.#run(() => this.#redeem(known));
    else if (open === undefined) this.#show(() => this.#drawWallets(), true);
    else if (open.way === 'phone') this.#awaitPhone(open);
    else void this.#continueOpen(open);
  }

  /** Goes on with what another tab has begun or redeemed. A pause that it has only noted changes nothing here. */
  #continueOthers(): void {
    const isForgotten = this.#shown !== null && this.#sale.store.find(this.#shown) === undefined;
    if (isForgotten) location.reload();
    else if (this.#describeKept() !== this.#seen) this.#continueKept();
  }

  #describeKept(): string {
    const kept = this.#sale.store.list().filter((purchase) => isBegun(purchase) || purchase.way === 'phone');
    return JSON.stringify(kept.map(({ reference, way, proof, isRedeemed }) => [reference, way, proof, isRedeemed]));
  }

  async #continueOpen(purchase: KeptPurchase): Promise<void> {
    if (await this.#sale.isBeingPaid()) {
      this.#show(() => []);
      showStatus('Another tab of this browser is paying. Answer your wallet there, or close that tab.');
      await this.#sale.untilPaid();
      // What the other tab has written meanwhile was followed already.
      const now = this.#sale.store.find(purchase.reference);
      if (this.#steps.isBusy || now?.proof !== undefined) return;
      if (now === undefined) return showStatus('');
    }
    this.#offerSearch(purchase);
  }

  #drawWallets(): HTMLElement[] {
    const pay = (wallet: BrowserWallet, way: PayWay): void => void this.#run(() => this.#payWith(wallet, way));
    return renderPayButtons(this.#wallets, this.#choice.chosen, pay);
  }

  async #payWith(wallet: BrowserWallet, way: PayWay): Promise<void> {
    showStatus('Your wallet asks you to confirm…', 'busy');
    try {
      const purchase = await this.#askWallet(() => this.#sale.pay(wallet.provider, way, this.#choice.chosen));
      // Another tab has begun to pay: its purchase is continued when this step is over.
      if (purchase === null) setTimeout(() => this.#continueKept());
      else await this.#redeem(purchase);
    } catch (error) {
      const open = this.#sale.store.list().find(isBegun);
      if (open?.way === 'transfer' && open.proof === undefined) this.#offerSearch(open);
      throw error;
    }
  }

  async #redeem(purchase: KeptPurchase, first?: RedeemAttempt): Promise<void> {
    this.#choice.follow(purchase);
    this.#show(() => []);
    find('phone').hidden = true;
    showStatus('Getting the answer…', 'busy');
    this.#waiting = new AbortController();
    const startedAtMs = Date.now();
    let isOffered = false;
    const onWait = (reason: string, isMissing: boolean): void => {
      const isLate = isMissing && Date.now() >= startedAtMs + REPLACED_AFTER_MS;
      const offered = isLate && !isOffered ? ' Below is what you can do if your wallet replaced it.' : '';
      showStatus(`${reason} Waiting…${offered}`, 'busy');
      if (offered === '') return;
      isOffered = true;
      this.#show(() => this.#drawMissing(purchase));
    };
    const end = await this.#sale.redeem(purchase, { onWait, signal: this.#waiting.signal }, first);
    const { kind } = end;
    // When this step is over.
    if (kind === 'overtaken') setTimeout(() => this.#continueOvertaken());
    else this.#showEnd({ ...end, kind });
  }

  #continueOvertaken(): void {
    showStatus('');
    this.#offerPhone();
    this.#continueKept();
  }

  #showEnd({ text, kind, purchase }: SaleEnd & { kind: Exclude<SaleEnd['kind'], 'overtaken'> }): void {
    const isDone = kind === 'done';
    showStatus(text, isDone ? 'good' : 'bad');
    if (isDone) this.#shown = purchase.reference;
    if (kind === 'missing') return this.#show(() => this.#drawMissing(purchase));
    const again = createButton('Try again', () => void this.#run(() => this.#redeem(purchase)));
    const anew = createButton('Begin anew', () => this.#beginAnew(purchase));
    const buy = createButton('Buy it again', () => this.#forget(purchase));
    const printed = createButton('Print', () => print());
    const buttons = { done: [printed, buy], retry: [again], uncharged: [again, anew], refused: [again, anew] }[kind];
    this.#show(() => [create('div', { class: 'buttons' }, ...buttons)]);
  }

  /** The chain does not have the transaction: the wallet may have replaced it by another one, or by nothing. */
  #drawMissing(purchase: KeptPurchase): HTMLElement[] {
    const again = createButton('Try again', () => void this.#runInsteadOfWaiting(() => this.#redeem(purchase)));
    const anew = createButton('It was cancelled: begin anew', () => this.#beginAnew(purchase));
    const hint = 'If you sped it up in your wallet, look for it, or enter its new hash under “Pay by hand” below.';
    const look = purchase.way === 'transfer' ? this.#drawSearch(purchase) : [];
    return [...look, create('div', { class: 'buttons' }, again, anew), create('p', { class: 'hint' }, hint)];
  }

  /** A wallet was opened and the tab closed before it answered: the chain knows whether it paid. */
  #offerSearch(purchase: KeptPurchase): void {
    this.#choice.follow(purchase);
    const { token } = purchase;
    const amount = formatTokenAmount(BigInt(purchase.amountBaseUnits), token.decimals);
    const since = showTime(purchase.atMs);
    showStatus(
      `You began to pay ${amount} ${token.symbol} at ${since}, and the page does not know whether your wallet paid.`,
    );
    const anew = createButton('I did not pay: begin anew', () => this.#beginAnew(purchase));
    const hint = create(
      'p',
      { class: 'hint' },
      'If you paid, enter the transaction hash from your wallet under “Pay by hand” below.',
    );
    this.#show(() => [...this.#drawSearch(purchase), create('div', { class: 'buttons' }, anew), hint]);
  }

  #drawSearch(purchase: KeptPurchase): HTMLElement[] {
    return renderWallets(this.#wallets, (wallet) => [
      createButton(
        `Look for the payment with ${wallet.name}`,
        () => void this.#runInsteadOfWaiting(() => this.#search(purchase, wallet)),
        'main',
      ),
    ]);
  }

  async #search(purchase: KeptPurchase, wallet: BrowserWallet): Promise<void> {
    showStatus('Looking on the chain…', 'busy');
    const found = await this.#askWallet(() => this.#sale.search(purchase, wallet.provider));
    if (found !== null) return this.#redeem(found);
    showStatus(
      'No payment was found. A transaction that is still waiting is not found: look into your wallet too.',
      'bad',
    );
  }

  async #askWallet<T>(ask: () => Promise<T>): Promise<T> {
    this.#setAsking(true);
    return ask().finally(() => this.#setAsking(false));
  }

  #setAsking(isAsking: boolean): void {
    this.#isAskingWallet = this.#choice.isLocked = isAsking;
  }

  #forget(purchase: KeptPurchase): void {
    this.#sale.store.remove(purchase.reference);
    location.reload();
  }

  #beginAnew(purchase: KeptPurchase): void {
    this.#sale.letGo(purchase);
    location.reload();
  }

  #preparePhone(): void {
    const panel = find<HTMLDetailsElement>('phone');
    this.#offerPhone();
    panel.addEventListener('toggle', () => {
      const option = this.#choice.chosen;
      if (!panel.open || option.ticketUrl === null || this.#isPolling || this.#steps.isBusy) return;
      if (Date.now() > this.#expiresAtMs) return showStatus('This page is too old to pay with. Reload it.', 'bad');
      const purchase = this.#sale.keepOwn('phone', option);
      if (this.#sale.store.find(purchase.reference) === undefined)
        return showStatus('This browser keeps no data, so a phone cannot pay for it.', 'bad');
      showCode(location.origin + option.ticketUrl);
      this.#awaitPhone(purchase);
    });
  }

  #offerPhone(): void {
    find('phone').hidden = this.#choice.chosen.ticketUrl === null;
  }

  #awaitPhone(purchase: KeptPurchase): void {
    if (this.#isPolling) return;
    showStatus('Waiting for your phone to pay…', 'busy');
    const isShown = this.#choice.chosen.reference === purchase.reference;
    // A reload alone would wait for the phone again, without a code.
    const anew = createButton('The phone did not pay: begin anew', () => this.#beginAnew(purchase));
    this.#show(() => [create('div', { class: 'buttons' }, anew), ...this.#drawWallets()], !isShown);
    // The code that was shown before a reload cannot be shown again, and an expired one must not be.
    if (!isShown) find('phone').hidden = true;
    else void untilTime(this.#expiresAtMs).then(() => (find('phone').hidden = true));
    void this.#redeemByPhone(purchase);
  }

  async #redeemByPhone(purchase: KeptPurchase): Promise<void> {
    this.#isPolling = true;
    const paid = await awaitPhonePayment(purchase, this.#sale, this.#steps);
    this.#isPolling = false;
    if (paid === null) return;
    const kept = this.#sale.keepProof(purchase, paid.txHash);
    const show = (): Promise<void> => this.#runAndNote(() => this.#redeem(kept, paid.first));
    // A wallet that is open may never answer, and what was bought may not come a second time.
    await (this.#isAskingWallet ? show() : this.#steps.runAfter(show));
  }

  #prepareByHand(): void {
    for (const option of this.data.options) {
      const panel = find<HTMLDetailsElement>(`manual${option.idEnd}`);
      panel.addEventListener('toggle', () => panel.open && this.#sale.keepOwn('hand', option));
      void expireCalldata(option.idEnd, this.#expiresAtMs, 'Reload the page.');
      showHashField(option.idEnd, (text) => this.#enterHash(text, option));
    }
  }

  /** The hash is kept at once: what is under way may be a wallet that never answers. */
  #enterHash(text: string, option: PayOption): void {
    if (!isHash(text)) return showStatus('A transaction hash is 0x and 64 hexadecimal digits.', 'bad');
    const paid = this.#sale.keepProof(this.#sale.keepOwn('hand', option), text);
    if (this.#isAskingWallet) {
      showStatus('Your wallet has not answered yet. The hash is kept: answer in your wallet, or reload this page.');
    }
    void this.#runInsteadOfWaiting(() => this.#redeem(paid));
  }

  /** What the payer asks for goes before a payment that the page only waits for. */
  async #runInsteadOfWaiting(step: () => Promise<void>): Promise<void> {
    this.#waiting.abort();
    await this.#steps.runNext(() => this.#runAndNote(step));
  }

  #run(step: () => Promise<void>): Promise<void> {
    return this.#steps.run(() => this.#runAndNote(step));
  }

  /** What the step itself has kept must not look like a change by another tab. */
  async #runAndNote(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } finally {
      this.#seen = this.#describeKept();
    }
  }
}
