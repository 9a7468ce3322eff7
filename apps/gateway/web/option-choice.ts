import { isAddress } from '@tollgate/protocol';

import { create, find } from './document/dom.js';
import type { PayOption, PayPageData } from './page-data.js';
import type { KeptPurchase } from './purchases.js';
import { readWalletChainId } from './wallet/chain.js';
import { readWalletBalance } from './wallet/token-calls.js';
import type { WalletProvider } from './wallet/wallets.js';

/** The option that is paid in. Where there are several, the payer may choose, and all that the page shows follows. */
export class OptionChoice {
  readonly #fieldset = create('fieldset', { id: 'choice' });
  readonly #radios = new Map<PayOption, HTMLInputElement>();
  #chosen: PayOption;
  /** Whether the payer, its wallet or what it has begun has decided. */
  #isMade = false;

  /** @param onChange called after another option was chosen */
  constructor(
    private readonly options: PayPageData['options'],
    private readonly onChange: () => void,
  ) {
    this.#chosen = options[0];
    if (options.length === 1) return;
    this.#fieldset.append(create('legend', {}, 'Pay in'), ...options.map((option) => this.#createChoice(option)));
    find('facts').before(this.#fieldset);
    this.#show(options[0]);
  }

  get chosen(): PayOption {
    return this.#chosen;
  }

  /** Whether the payer may choose now: not once it has begun to pay. */
  set isOpen(isOpen: boolean) {
    this.#fieldset.hidden = !isOpen;
  }

  /** Whether the choice stands, while a wallet is asked to pay. */
  set isLocked(isLocked: boolean) {
    this.#fieldset.disabled = isLocked;
  }

  /** Follows a purchase that was begun, if its option is still offered. */
  follow({ chain, token }: KeptPurchase): void {
    this.#isMade = true;
    const own = this.options.find((option) => option.chain.id === chain.id && option.token.address === token.address);
    if (own !== undefined) this.#choose(own);
  }

  /** Chooses the first option that the wallet holds enough of, on the chain that it is on; it is not asked to connect. */
  async followWallet(provider: WalletProvider): Promise<void> {
    if (this.options.length === 1 || this.#isMade) return;
    const held = await findHeld(provider, this.options).catch(() => null);
    if (held === null || this.#isMade || this.#fieldset.disabled) return;
    this.#isMade = true;
    this.#choose(held);
  }

  #createChoice(option: PayOption): HTMLElement {
    const radio = create('input', { type: 'radio', name: 'option' });
    radio.addEventListener('change', () => {
      this.#isMade = true;
      this.#choose(option);
    });
    this.#radios.set(option, radio);
    return create('label', {}, radio, `${option.price} on ${option.chain.name}`);
  }

  #choose(option: PayOption): void {
    if (option === this.#chosen) return;
    this.#show(option);
    this.onChange();
  }

  #show(option: PayOption): void {
    this.#chosen = option;
    find('title').textContent = `Pay ${option.price}`;
    for (const [one, radio] of this.#radios) {
      radio.checked = one === option;
      find(`facts${one.idEnd}`).hidden = one !== option;
      find(`manual${one.idEnd}`).hidden = one !== option;
    }
  }
}

async function findHeld(provider: WalletProvider, options: readonly PayOption[]): Promise<PayOption | null> {
  const accounts = await provider.request({ method: 'eth_accounts' });
  const [account] = Array.isArray(accounts) ? (accounts as unknown[]) : [];
  if (!isAddress(account)) return null;
  const chainId = await readWalletChainId(provider);
  for (const option of options.filter(({ chain }) => chain.id === chainId)) {
    const balance = await readWalletBalance(provider, option.token.address, account);
    if (balance !== null && balance >= BigInt(option.amountBaseUnits)) return option;
  }
  return null;
}
