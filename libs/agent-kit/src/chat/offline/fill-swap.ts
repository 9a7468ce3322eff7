import type { Phrase } from './read-phrases.js';
import { putAmount, type Slots } from './slots.js';

const BUYING = new Set(['buy', 'get']);
const TO = new Set(['to', 'into', 'in']);
const FROM = new Set(['from', 'with']);

interface Sides {
  from: Phrase | null;
  to: Phrase | null;
  /** A number that stands beside no token. */
  loose: Phrase | null;
}

const tokenOf = ({ asset, address }: Phrase): string | null => asset ?? address;

/** Which side of the swap a phrase names, by its preposition and its verb. */
function readSide(phrase: Phrase, isBuying: boolean, previous: Phrase | undefined): 'from' | 'to' {
  const { preposition, verb } = phrase;
  if (verb === 'use' && preposition === null) return 'from';
  if (preposition !== null && TO.has(preposition)) return 'to';
  if (preposition !== null && FROM.has(preposition)) return 'from';
  // "5 dollars worth of bitcoin", "$5 of WSEI": the money is what is given.
  if (preposition === 'worth' || (preposition === 'of' && previous?.asset)) return 'to';
  if (preposition === 'for' || preposition === 'atMost') return isBuying ? 'from' : 'to';
  return isBuying ? 'to' : 'from';
}

function readSides(phrases: readonly Phrase[], isBuying: boolean, isQuote: boolean): Sides {
  const sides: Sides = { from: null, to: null, loose: null };
  for (const [index, phrase] of phrases.entries()) {
    if (tokenOf(phrase) === null) {
      if (phrase.amount !== null) sides.loose ??= phrase;
      continue;
    }
    const next = phrases[index + 1];
    const paysForNext =
      next !== undefined && tokenOf(next) !== null && ['worth', 'of'].includes(next.preposition ?? '');
    let side = paysForNext && isBuying ? 'from' : readSide(phrase, isBuying, phrases[index - 1]);
    // In a quote the amount is what would be given, whichever way the sentence runs.
    if (isQuote && phrase.amount !== null && phrase.preposition !== 'to') side = 'from';
    else if (
      isQuote &&
      phrase.preposition === null &&
      phrases.some((other) => other !== phrase && other.amount !== null && tokenOf(other) !== null)
    )
      side = 'to';
    if (sides[side] !== null) side = side === 'from' ? 'to' : 'from';
    sides[side] ??= phrase;
  }
  return sides;
}

export const isBuy = (verbs: ReadonlySet<string>): boolean =>
  !verbs.has('swap') && !verbs.has('sell') && [...verbs].some((verb) => BUYING.has(verb));

/** Swaps and their quotes: what is given, what is got, and how much is given. */
export function fillSwap(
  slots: Slots,
  phrases: readonly Phrase[],
  verbs: ReadonlySet<string>,
  operation: string,
): void {
  const isQuote = operation === 'getSwapQuote';
  const isBuying = isBuy(verbs);
  const sides = readSides(phrases, isBuying && !isQuote, isQuote);
  // "WSEI for 8 USDC": without a verb, the side with the amount is what is given.
  const isTurned =
    verbs.size === 0 && sides.to?.preposition === 'for' && sides.to.amount !== null && !sides.from?.amount;
  const { from, to, loose } = isTurned ? { ...sides, from: sides.to, to: sides.from } : sides;
  const [fromToken, toToken] = [from && tokenOf(from), to && tokenOf(to)];
  const wraps = verbs.has('wrap') ? ['0x0', 'WSEI'] : verbs.has('unwrap') ? ['WSEI', '0x0'] : null;
  if (wraps) {
    const [given, got] = wraps;
    if (phrases.some((phrase) => !['0x0', 'WSEI', null].includes(tokenOf(phrase)))) {
      slots.problems.push('I can only wrap SEI, and unwrap WSEI');
      return;
    }
    slots.input = { ...slots.input, fromToken: given ?? '', toToken: got ?? '' };
    const wrapped = from?.amount ?? loose?.amount;
    if (wrapped) putAmount(slots, 'amount', wrapped);
    return;
  }
  if (fromToken !== null) slots.input.fromToken = fromToken;
  if (toToken !== null) slots.input.toToken = toToken;
  const amount = from?.amount ?? loose?.amount;
  if (amount) putAmount(slots, 'amount', amount);
  else if (to?.amount && !isQuote)
    slots.problems.push('I can only fix the amount that is given, not the amount that is got');
  else if (isQuote && fromToken !== null) slots.input.amount = '1';
  if (isQuote && fromToken !== null && toToken === null && fromToken !== 'USDC') slots.input.toToken = 'USDC';
  if (fromToken !== null && fromToken === toToken) {
    slots.problems.push('Both sides are the same token');
    delete slots.input.toToken;
  }
}
