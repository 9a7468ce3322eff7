import type { SellerFacts, SellerOption } from '@tollgate/operator-api';
import { formatTokenAmount } from '@tollgate/protocol';

export { nameAsset } from '../../../../libs/operator-api/src/asset-name.js';
export type { SellerFacts };

/** An amount of base units for people. `asset`: `<chainId>:<address>` or `<chainId>:native`; null: the token is not known. */
export function showMoney(baseUnits: string, asset: string | null, seller: SellerFacts): string {
  if (baseUnits.startsWith('-')) return `−${showMoney(baseUnits.slice(1), asset, seller)}`;
  const sold = seller.options.find((option) => asset === `${option.chainId}:${option.asset.address}`);
  if (sold !== undefined) {
    return `${group(formatTokenAmount(BigInt(baseUnits), sold.asset.decimals))} ${nameToken(sold, seller)}`;
  }
  if (asset?.endsWith(':native')) return showCoins(baseUnits);
  const unit = asset === null ? 'a token that is not known' : shorten(asset.replace(/^\d+:/, ''));
  return `${group(baseUnits)} base units of ${unit}`;
}

/** An option of each token, which may be paid to several accounts. */
export function listSoldTokens({ options }: SellerFacts): SellerFacts['options'] {
  const nameOf = ({ chainId, asset }: SellerOption): string => `${chainId}:${asset.address}`;
  return options.filter((one, index) => options.findIndex((other) => nameOf(other) === nameOf(one)) === index);
}

/** With its network, where tokens of several have the symbol. */
export function nameToken({ asset: { symbol }, network }: SellerOption, { options }: SellerFacts): string {
  const isAmbiguous = options.some((other) => other.asset.symbol === symbol && other.network !== network);
  return isAmbiguous ? `${symbol} on ${network}` : symbol;
}

/** The explorer of a chain, by its id or by an asset on it; null: there is none. */
export function explorerOf({ options }: SellerFacts, chain: number | string | null): string | null {
  const chainId = Number.parseInt(String(chain), 10);
  return options.find((option) => option.chainId === chainId)?.explorerUrl ?? null;
}

/** Wei as coins of the chain, to six decimals. */
export function showCoins(wei: string): string {
  const [whole = '0', part = ''] = formatTokenAmount(BigInt(wei), 18).split('.');
  const rounded = part.slice(0, 6).replace(/0+$/, '');
  const isTiny = rounded === '' && part !== '' && /^-?0$/.test(whole);
  return isTiny ? 'under 0.000001 coins' : `${group(rounded === '' ? whole : `${whole}.${rounded}`)} coins`;
}

/** Thin spaces between thousands. */
function group(digits: string): string {
  const [whole = '', part] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return part === undefined ? grouped : `${grouped}.${part}`;
}

/** The ends of an address or a hash. */
export function shorten(text: string): string {
  return text.length <= 14 ? text : `${text.slice(0, 8)}…${text.slice(-4)}`;
}

export function showDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
}

/** How many people read it: `1 payment`, `2 payments`. */
export function showCount(number: number, noun: string): string {
  return `${group(String(number))} ${noun}${number === 1 ? '' : 's'}`;
}
