import { formatTokenAmount, isHash } from '@tollgate/protocol';

import { explainProblem, PageProblem } from './chain.js';
import { create, createButton, find, showStatus } from './dom.js';
import type { PayPageData } from './page-data.js';
import { drawCode, readReportedHashes } from './phone-code.js';
import type { KeptPurchase } from './purchases.js';
import { createTransferProof, tryRedeem } from './redeem.js';
import { PageSale } from './sale.js';
import { renderWallets } from './wallet-list.js';
import { watchWallets, type BrowserWallet } from './wallets.js';

const POLL_MS = 1500;

/** The page at a priced URL: pays, redeems, shows the answer, and goes on where a closed tab stopped. */
export class PayView {
  readonly #sale: PageSale;
  readonly #actions = find('actions');
  readonly #expiresAtMs: number;
  #wallets: readonly BrowserWallet[] = [];
  /** Draws the buttons, and draws them again when another wallet is found. */
  #draw: () => readonly HTMLElement[] = () => [];
  #isBusy = false;
  #isPolling = false;

  constructor(private readonly data: PayPageData) {
    this.#sale = new PageSale(data);
    this.#expiresAtMs = Date.now() + data.secondsLeft * 1000;
  }

  start(): void {
    this.#preparePhone();
    this.#prepareHashField();
    this.#sale.store.onChange(() => this.#continueKept());
    this.#continueKept();
    watchWallets((wallets) => {
      this.#wallets = wallets;
      this.#actions.replaceChildren(...this.#draw());
    });
  }

  #show(draw: () => readonly HTMLElement[]): void {
    this.#draw = draw;
    this.#actions.replaceChildren(...draw());
  }

  /** Goes on with what this browser has begun: an answer is shown again, a payment that was sent is redeemed. */
  #continueKept(): void {
    if (this.#isBusy) return;
    const kept = this.#sale.store.list();
    const known = kept.find(({ isRedeemed }) => isRedeemed) ?? kept.find(({ proof }) => proof !== undefined);
    const [open] = kept;
    if (known !== undefined) void this.#run(() => this.#redeem(known));
    else if (open === undefined) this.#offerWallets();
    else if (open.way === 'phone') this.#awaitPhone(open);
    else this.#offerSearch(open);
  }

  #offerWallets(): void {
    const buttons = (wallet: BrowserWallet): HTMLElement[] => {
      const where = this.#wallets.length === 1 ? ` with ${wallet.name}` : '';
      const send = createButton(
        this.data.signs ? 'Send a transfer instead' : `Pay${where}`,
        () => void this.#run(() => this.#payWith(wallet, 'transfer')),
        this.data.signs ? '' : 'main',
      );
      if (!this.data.signs) return [send];
      const sign = createButton(`Pay${where}`, () => void this.#run(() => this.#payWith(wallet, 'signature')), 'main');
      return [sign, send];
    };
    const hint = this.data.signs
      ? 'You sign, and the gateway sends the transaction: no gas. A transfer of your own costs gas.'
      : 'Your wallet sends a transfer, which costs gas.';
    this.#show(() =>
      this.#wallets.length === 0
        ? [create('p', {}, 'This browser has no wallet. Pay with your phone, or by hand, as described below.')]
        : [...renderWallets(this.#wallets, buttons), create('p', { class: 'hint' }, hint)],
    );
  }

  async #payWith(wallet: BrowserWallet, way: 'transfer' | 'signature'): Promise<void> {
    showStatus('Your wallet asks you to confirm…', 'busy');
    try {
      const purchase = await this.#sale.pay(wallet.provider, way);
      // Another tab has begun to pay: its purchase is continued when this step is over.
      if (purchase === null) setTimeout(() => this.#continueKept());
      else await this.#redeem(purchase);
    } catch (error) {
      const [open] = this.#sale.store.list();
      if (open?.way === 'transfer' && open.proof === undefined) this.#offerSearch(open);
      throw error;
    }
  }

  async #redeem(purchase: KeptPurchase): Promise<void> {
    this.#show(() => []);
    find('phone').hidden = true;
    showStatus('Getting the answer…', 'busy');
    const end = await this.#sale.redeem(purchase, (reason) => showStatus(`${reason} Waiting…`, 'busy'));
    showStatus(end.text, end.isGood ? 'good' : 'bad');
    const again = createButton('Try again', () => void this.#run(() => this.#redeem(purchase)));
    const anew = createButton(end.isGood ? 'Buy it again' : 'Begin anew', () => this.#forget(purchase));
    const forgets = end.mayForget ? [anew] : [];
    this.#show(() => [create('div', { class: 'buttons' }, ...(end.mayRetry ? [again] : []), ...forgets)]);
  }

  /** A wallet was opened and the tab closed before it answered: the chain knows whether it paid. */
  #offerSearch(purchase: KeptPurchase): void {
    const amount = formatTokenAmount(BigInt(purchase.amountBaseUnits), this.data.token.decimals);
    const since = new Date(purchase.atMs).toLocaleTimeString();
    showStatus(
      `You began to pay ${amount} ${this.data.token.symbol} at ${since}, and this page closed before your wallet answered.`,
    );
    const look = (wallet: BrowserWallet): HTMLElement[] => [
      createButton(
        `Look for the payment with ${wallet.name}`,
        () => void this.#run(() => this.#search(purchase, wallet)),
        'main',
      ),
    ];
    const anew = createButton('I did not pay: begin anew', () => this.#forget(purchase));
    const hint = create(
      'p',
      { class: 'hint' },
      'If you paid, enter the transaction hash from your wallet under “Pay by hand” below.',
    );
    this.#show(() => [...renderWallets(this.#wallets, look), create('div', { class: 'buttons' }, anew), hint]);
  }

  async #search(purchase: KeptPurchase, wallet: BrowserWallet): Promise<void> {
    showStatus('Looking on the chain…', 'busy');
    const found = await this.#sale.search(purchase, wallet.provider);
    if (found !== null) return this.#redeem(found);
    showStatus(
      'No payment was found. A transaction that is still waiting is not found: look into your wallet too.',
      'bad',
    );
  }

  #forget(purchase: KeptPurchase): void {
    this.#sale.store.remove(purchase.reference);
    location.reload();
  }

  #preparePhone(): void {
    const panel = find<HTMLDetailsElement>('phone');
    const { ticketUrl } = this.data;
    if (ticketUrl === null) return;
    panel.hidden = false;
    panel.addEventListener('toggle', () => {
      if (!panel.open || this.#isPolling || this.#isBusy) return;
      const purchase = this.#sale.keepForPhone();
      if (purchase === null) return showStatus('This browser keeps no data, so a phone cannot pay for it.', 'bad');
      this.#showCode(location.origin + ticketUrl);
      this.#awaitPhone(purchase);
    });
  }

  #showCode(url: string): void {
    const address = create('p', { class: 'hint' }, 'Or open this address there: ', create('code', {}, url));
    const isLocal = /^(localhost|127\.|\[::1\])/.test(location.hostname);
    const local = create('p', {}, `A phone cannot reach ${location.hostname}, which is this machine.`);
    find('code').replaceChildren(drawCode(url), address, ...(isLocal ? [local] : []));
  }

  #awaitPhone(purchase: KeptPurchase): void {
    if (this.#isPolling) return;
    this.#isPolling = true;
    showStatus('Waiting for your phone to pay…', 'busy');
    if (this.data.reference !== purchase.reference) {
      // After a reload: the code of the earlier page is gone, its payment is not.
      const anew = createButton('The phone did not pay: begin anew', () => this.#forget(purchase));
      this.#show(() => [create('div', { class: 'buttons' }, anew)]);
      find('phone').hidden = true;
    }
    void this.#poll(purchase);
  }

  async #poll(purchase: KeptPurchase): Promise<void> {
    const refused = new Set<string>();
    while (this.#isAwaited(purchase)) {
      const isLooking = !document.hidden && !this.#isBusy;
      const hashes = isLooking ? await readReportedHashes(this.data.base, purchase.reference) : [];
      for (const txHash of hashes.filter((hash) => !refused.has(hash))) {
        const attempt = await tryRedeem(this.#sale.url, createTransferProof(purchase, txHash));
        if (attempt.kind === 'refused') refused.add(txHash);
        else if (attempt.kind !== 'wait') return this.#run(() => this.#redeem(this.#sale.keepProof(purchase, txHash)));
      }
      const isOver = Date.now() > this.#expiresAtMs;
      if (isOver) find('code').replaceChildren('This code has expired. Reload the page for a new one.');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#isPolling = false;
  }

  #isAwaited({ reference }: KeptPurchase): boolean {
    const kept = this.#sale.store.list();
    return kept.some((one) => one.reference === reference) && !kept.some(({ isRedeemed }) => isRedeemed === true);
  }

  #prepareHashField(): void {
    const input = create('input', { id: 'hash', autocomplete: 'off', spellcheck: 'false', placeholder: '0x…' });
    const redeem = (): void =>
      void this.#run(async () => {
        const txHash = input.value.trim();
        if (!isHash(txHash)) throw new PageProblem('A transaction hash is 0x and 64 hexadecimal digits.');
        await this.#redeem(this.#sale.keepByHand(txHash));
      });
    input.addEventListener('keydown', ({ key }) => key === 'Enter' && redeem());
    find('by-hand').replaceChildren(
      create('label', { for: 'hash' }, 'The hash of the transaction that paid'),
      input,
      createButton('Get the answer', redeem),
    );
  }

  /** One step at a time; what goes wrong is said in the status. */
  async #run(step: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    document.body.dataset['busy'] = 'true';
    try {
      await step();
    } catch (error) {
      showStatus(explainProblem(error), 'bad');
    } finally {
      this.#isBusy = false;
      delete document.body.dataset['busy'];
    }
  }
}
