import { create, createButton } from './document/dom.js';
import type { PayOption } from './page-data.js';
import type { BrowserWallet } from './wallet/wallets.js';

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

export type PayWay = 'transfer' | 'signature';

/** The buttons that pay. Without a wallet, how to pay all the same. */
export function renderPayButtons(
  wallets: readonly BrowserWallet[],
  { signs }: Pick<PayOption, 'signs'>,
  pay: (wallet: BrowserWallet, way: PayWay) => void,
): HTMLElement[] {
  if (wallets.length === 0) {
    return [create('p', {}, 'This browser has no wallet. Pay with your phone, or by hand, as described below.')];
  }
  const where = wallets.length === 1 ? ` with ${wallets[0]?.name}` : '';
  const buttons = (wallet: BrowserWallet): HTMLElement[] => {
    const sign = createButton(`Pay${where}`, () => pay(wallet, 'signature'), 'main');
    const send = (text: string, look: string) => createButton(text, () => pay(wallet, 'transfer'), look);
    return signs ? [sign, send('Send a transfer instead', '')] : [send(`Pay${where}`, 'main')];
  };
  const hint = signs
    ? 'You sign, and the gateway sends the transaction: no gas. A transfer of your own costs gas.'
    : 'Your wallet sends a transfer, which costs gas.';
  return [...renderWallets(wallets, buttons), create('p', { class: 'hint' }, hint)];
}
