import type { SellerFacts } from '@tollgate/operator-api';
import { formatTokenAmount } from '@tollgate/protocol';

export type { SellerFacts };

/** An amount of base units for people. `asset`: a token's address, maybe after its chain and a colon; null: the seller's. */
export function showMoney(baseUnits: string, asset: string | null, seller: SellerFacts): string {
  const { asset: sold, chainId } = seller;
  if (baseUnits.startsWith('-')) return `−${showMoney(baseUnits.slice(1), asset, seller)}`;
  if (asset === null || asset === sold.address || asset === `${chainId}:${sold.address}`) {
    return `${group(formatTokenAmount(BigInt(baseUnits), sold.decimals))} ${sold.symbol}`;
  }
  if (asset.endsWith('native')) return showCoins(baseUnits);
  return `${group(baseUnits)} base units of ${shorten(asset.replace(/^\d+:/, ''))}`;
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
