import type { Amount } from './atom.js';
import type { Intent } from './intent.js';
import type { Phrase } from './read-phrases.js';

/** What the phrases of a clause said about one operation. */
export interface Slots {
  input: Intent['input'];
  shares: Intent['shares'];
  wanted?: NonNullable<Intent['wanted']>;
  problems: string[];
}

/** Puts an amount into a slot, or says why it is none. */
export function putAmount(slots: Slots, slot: string, amount: Amount, takesMax = false): void {
  if (amount.kind === 'bad') slots.problems.push(`"${amount.text}" is no amount that I can carry out`);
  else if (amount.kind === 'exact') {
    if (/[1-9]/.test(amount.text)) slots.input[slot] = amount.text;
    else slots.problems.push('The amount must be more than 0');
  } else if (takesMax && amount.share.numerator === amount.share.denominator) slots.input[slot] = 'MAX';
  else if (amount.share.numerator <= 0n || amount.share.numerator > amount.share.denominator)
    slots.problems.push('A share of a balance is more than 0 % and at most 100 %');
  else slots.shares[slot] = amount.share;
}

const isTokenAmount = ({ nouns, bps, leverage }: Phrase): boolean =>
  !nouns.includes('slippage') && !nouns.includes('fee') && bps === null && leverage === null;

/** The first amount that is one of tokens. */
export const findAmount = (phrases: readonly Phrase[]): Amount | null =>
  phrases.find((phrase) => phrase.amount !== null && isTokenAmount(phrase))?.amount ?? null;
