import type { Phrase } from './read-phrases.js';

const isOf = ({ preposition, asset, amount }: Phrase): boolean =>
  (preposition === 'worth' || preposition === 'of') && asset !== null && amount === null;

/**
 * `a dollar's worth of USDC` is 1 USDC. Money's worth of another token is no amount of it, except as the price of what is
 * bought: `5 dollars of WBTC`, which stays two phrases where `isPrice` says so.
 */
export function mergeMoney(phrases: readonly Phrase[], isPrice: (others: readonly Phrase[]) => boolean): Phrase[] {
  const merged: Phrase[] = [];
  for (const phrase of phrases) {
    const money = merged.at(-1);
    if (!money?.isMoney || money.amount === null || !isOf(phrase)) {
      merged.push(phrase);
      continue;
    }
    if (phrase.asset !== money.asset && isPrice(phrases.filter((other) => other !== money && other !== phrase))) {
      merged.push(phrase);
      continue;
    }
    const text = money.amount.kind === 'exact' ? `${money.amount.text} dollars of ${phrase.asset}` : 'dollars';
    const amount = phrase.asset === money.asset ? money.amount : { kind: 'bad' as const, text };
    merged[merged.length - 1] = { ...money, asset: phrase.asset, amount, isMoney: false };
  }
  return merged;
}
