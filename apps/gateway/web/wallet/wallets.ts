/** A wallet's interface to pages (EIP-1193). */
export interface WalletProvider {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
}

export interface BrowserWallet {
  readonly name: string;
  /** A `data:` URL of an image. */
  readonly icon: string | null;
  readonly provider: WalletProvider;
}

const MOST_WALLETS = 20;
const LONGEST_NAME = 40;
const LONGEST_ICON = 100_000;
/** Wallets announce themselves at once; one that only injects itself is looked for after this. */
const INJECTED_AFTER_MS = 150;

/**
 * Calls `onFound` with the wallets found so far: at first with none, then once for each wallet that announces itself
 * (EIP-6963), and for one that only sets `window.ethereum`.
 */
export function watchWallets(onFound: (wallets: readonly BrowserWallet[]) => void): void {
  const wallets = new Map<string, BrowserWallet>();
  const add = (id: string, wallet: BrowserWallet): void => {
    if (wallets.size >= MOST_WALLETS || wallets.has(id)) return;
    wallets.set(id, wallet);
    onFound([...wallets.values()]);
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    const found = parseAnnouncement((event as CustomEvent<unknown>).detail);
    if (found !== null) add(found.id, found.wallet);
  });
  onFound([]);
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  setTimeout(() => {
    const { ethereum } = window as unknown as { ethereum?: unknown };
    if (!isProvider(ethereum)) return;
    if ([...wallets.values()].some(({ provider }) => provider === ethereum)) return;
    add('injected', { name: 'Browser wallet', icon: null, provider: ethereum });
  }, INJECTED_AFTER_MS);
}

function parseAnnouncement(detail: unknown): { id: string; wallet: BrowserWallet } | null {
  const { info, provider } = (detail ?? {}) as { info?: Record<string, unknown>; provider?: unknown };
  if (!isProvider(provider) || typeof info?.['uuid'] !== 'string' || typeof info['name'] !== 'string') return null;
  const { icon } = info;
  const isImage = typeof icon === 'string' && icon.length <= LONGEST_ICON && icon.startsWith('data:image/');
  const name = info['name'].slice(0, LONGEST_NAME) || 'Wallet without a name';
  return { id: info['uuid'], wallet: { name, icon: isImage ? icon : null, provider } };
}

function isProvider(value: unknown): value is WalletProvider {
  return typeof value === 'object' && value !== null && typeof (value as WalletProvider).request === 'function';
}

/**
 * The codes of EIP-1193 and EIP-1474 with which a wallet says that it has done nothing. A wallet that was disconnected
 * (4900, 4901) may have been so after it sent.
 */
const REFUSALS = new Set([4001, 4100, 4200, -32601, -32602]);

/** The code of a wallet's error, also where the wallet wraps the error of another one. */
export function walletCodeOf(error: unknown): number | null {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  const inner = data?.originalError?.code;
  if (typeof inner === 'number') return inner;
  return typeof code === 'number' ? code : null;
}

/** Whether the wallet says that it did nothing, so that nothing can have been paid. */
export function isWalletRefusal(error: unknown): boolean {
  const code = walletCodeOf(error);
  return code !== null && REFUSALS.has(code);
}

/** One sentence for the payer. A wallet's own text is shortened, since it may hold a whole request. */
export function explainWallet(error: unknown): string {
  const code = walletCodeOf(error);
  if (code === 4001) return 'You declined in the wallet.';
  if (code === -32002) return 'The wallet already shows a request: open it and answer there.';
  const { message } = (error ?? {}) as { message?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : 'it gave no reason';
  return `The wallet reports: ${text.slice(0, 200)}`;
}
