import { ensureChain, explainProblem, PageProblem, readAccount } from './chain.js';
import { create, createButton, find, linkTransaction, showStatus } from './dom.js';
import { sendLockedTransfer } from './locked-transfer.js';
import type { TicketPageData } from './page-data.js';
import { renderWallets } from './wallet-list.js';
import { watchWallets, type BrowserWallet } from './wallets.js';

/** The page on a phone: it pays for another screen, and learns nothing of what was bought. */
export function showTicket(data: TicketPageData): void {
  const actions = find('actions');
  const expiresAtMs = Date.now() + data.secondsLeft * 1000;
  let isBusy = false;
  const run = async (wallet: BrowserWallet): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      await payTicket(data, wallet, expiresAtMs);
    } catch (error) {
      showStatus(explainProblem(error), 'bad');
    } finally {
      isBusy = false;
    }
  };
  watchWallets((wallets) => {
    const pay = (wallet: BrowserWallet): HTMLElement[] => [
      createButton(`Send with ${wallet.name}`, () => void run(wallet), 'main'),
    ];
    actions.replaceChildren(...(wallets.length === 0 ? [offerWalletApp()] : renderWallets(wallets, pay)));
  });
}

async function payTicket(data: TicketPageData, wallet: BrowserWallet, expiresAtMs: number): Promise<void> {
  if (Date.now() > expiresAtMs) throw new PageProblem('This code has expired. Show a new one on the other screen.');
  if (find('actions').dataset['sent'] === 'true') throw new PageProblem('You have already paid with this code.');
  showStatus('Your wallet asks you to confirm…', 'busy');
  const from = await readAccount(wallet.provider);
  await ensureChain(wallet.provider, data.chain);
  const terms = { ...data, asset: data.token.address };
  const txHash = await sendLockedTransfer(wallet.provider, from, terms, data.chain.id);
  find('actions').dataset['sent'] = 'true';
  find('actions').replaceChildren(
    create('p', {}, 'Transaction: ', linkTransaction(data.chain.explorerUrl, txHash)),
    create('p', {}, 'If the other screen does not go on by itself, enter this transaction hash there.'),
  );
  await reportHash(txHash);
  showStatus('Sent. The other screen goes on when the transaction is mined.', 'good');
}

/** Tells the gateway which transaction paid. Repeated, since a phone's network comes and goes. */
async function reportHash(txHash: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const response = await fetch(location.pathname, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ txHash }),
      credentials: 'omit',
    }).catch(() => null);
    if (response?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 1000 * (attempt + 1)));
  }
  throw new PageProblem('It is paid, but the gateway was not reached. Enter the transaction hash on the other screen.');
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
