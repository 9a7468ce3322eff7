import type { Hex } from '@tollgate/protocol';

import { showTime } from '../../../libs/http/src/web/show-time.js';
import { BegunTicket, type BegunPayment } from './begun-ticket.js';
import { expireCalldata } from './document/by-hand.js';
import { create, createButton, find, linkTransaction, showStatus } from './document/dom.js';
import type { TicketPageData } from './page-data.js';
import { PageSteps } from './page-steps.js';
import { renderWallets } from './wallet-list.js';
import { ensureChain, PageProblem, readAccount } from './wallet/chain.js';
import { sendLockedTransfer } from './wallet/locked-transfer.js';
import { isWalletRefusal, watchWallets, type BrowserWallet } from './wallet/wallets.js';

/** The page on a phone: it pays for another screen, and learns nothing of what was bought. */
export class TicketView {
  readonly #begun: BegunTicket;
  readonly #steps = new PageSteps();
  readonly #expiresAtMs: number;
  #wallets: readonly BrowserWallet[] = [];

  constructor(private readonly data: TicketPageData) {
    this.#begun = new BegunTicket(data.lock);
    this.#expiresAtMs = Date.now() + data.secondsLeft * 1000;
  }

  start(): void {
    void expireCalldata('', this.#expiresAtMs, 'Show a new code on the other screen.');
    const begun = this.#begun.read();
    if (begun !== null) this.#continueBegun(begun);
    watchWallets((wallets) => {
      this.#wallets = wallets;
      if (this.#begun.read() === null) this.#offerWallets();
    });
  }

  /** A reload, or a phone that comes back from its wallet, must not pay a second time. */
  #continueBegun(begun: BegunPayment): void {
    const { txHash } = begun;
    if (txHash !== undefined) return void this.#steps.run(() => this.#reportSent(txHash));
    showStatus(
      `You began to pay at ${showTime(begun.atMs)}. Look into your wallet before you send again: it may have paid.`,
    );
    this.#askWhetherPaid();
  }

  #askWhetherPaid(): void {
    const again = this.#createAgain('I did not pay: send again');
    const hint = 'If you have paid, enter the transaction hash from your wallet on the other screen.';
    find('actions').replaceChildren(create('p', {}, hint), create('div', { class: 'buttons' }, again));
  }

  #createAgain(text: string): HTMLElement {
    const forget = async (): Promise<void> => {
      this.#begun.remove();
      showStatus('');
      this.#offerWallets();
    };
    return createButton(text, () => void this.#steps.runNext(forget));
  }

  #offerWallets(): void {
    const pay = (wallet: BrowserWallet): HTMLElement[] => [
      createButton(`Send with ${wallet.name}`, () => void this.#steps.run(() => this.#pay(wallet)), 'main'),
    ];
    const wallets = this.#wallets.length === 0 ? [offerWalletApp()] : renderWallets(this.#wallets, pay);
    find('actions').replaceChildren(...wallets);
  }

  async #pay({ provider }: BrowserWallet): Promise<void> {
    if (Date.now() > this.#expiresAtMs) {
      throw new PageProblem('This code has expired. Show a new one on the other screen.');
    }
    showStatus('Your wallet asks you to confirm…', 'busy');
    const from = await readAccount(provider);
    await ensureChain(provider, this.data.chain);
    // In another tab of this browser.
    if (this.#begun.read() !== null) {
      throw new PageProblem('This phone has already begun to pay with this code. Reload the page.');
    }
    const begun = { atMs: Date.now() };
    this.#begun.keep(begun);
    try {
      const terms = { ...this.data, asset: this.data.token.address };
      const txHash = await sendLockedTransfer(provider, from, terms, this.data.chain.id);
      this.#begun.keep({ ...begun, txHash });
      await this.#reportSent(txHash);
    } catch (error) {
      if (isWalletRefusal(error)) {
        this.#begun.remove();
        this.#offerWallets();
      } else if (this.#begun.read()?.txHash === undefined) {
        this.#askWhetherPaid();
      }
      throw error;
    }
  }

  async #reportSent(txHash: Hex): Promise<void> {
    find('actions').replaceChildren(
      create('p', {}, 'Transaction: ', linkTransaction(this.data.chain.explorerUrl, txHash)),
      create('p', {}, 'If the other screen does not go on by itself, enter this transaction hash there.'),
      create('div', { class: 'buttons' }, this.#createAgain('It was cancelled: send again')),
    );
    await reportHash(txHash);
    showStatus('Sent. The other screen goes on when the transaction is mined.', 'good');
  }
}

/** Tells the gateway which transaction paid. Repeated, since a phone's network comes and goes. */
async function reportHash(txHash: string): Promise<void> {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const response = await fetch(location.pathname, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ txHash }),
      credentials: 'omit',
    }).catch(() => null);
    if (response?.ok === true) return;
    // Where too many are reported, the gateway looks for the payment itself, as often as it says.
    const waitSeconds = Number(response?.headers.get('retry-after') ?? 0) || attempt + 1;
    await new Promise((resolve) => setTimeout(resolve, 1000 * waitSeconds));
  }
  throw new PageProblem(
    'It is sent, but the gateway took no note of it. Enter the transaction hash on the other screen.',
  );
}

/** For a phone's own browser, which has no wallet. */
function offerWalletApp(): HTMLElement {
  const page = `${location.host}${location.pathname}`;
  return create(
    'p',
    {},
    'This browser has no wallet. Open this page in the browser of your wallet app: ',
    create('a', { href: `https://metamask.app.link/dapp/${page}`, rel: 'noreferrer noopener' }, 'open it in MetaMask'),
    ', or copy its address into another one.',
  );
}
