import { create } from './dom.js';
import type { BrowserWallet } from './wallets.js';

/** One block for each wallet, with its icon where there are several. */
export function renderWallets(
  wallets: readonly BrowserWallet[],
  createButtons: (wallet: BrowserWallet) => readonly HTMLElement[],
): HTMLElement[] {
  return wallets.map((wallet) => {
    const icon = wallet.icon === null ? [] : [create('img', { src: wallet.icon, alt: '', width: '24', height: '24' })];
    const title = wallets.length === 1 ? [] : [create('p', { class: 'wallet' }, ...icon, wallet.name)];
    return create('div', { class: 'buttons' }, ...title, ...createButtons(wallet));
  });
}
