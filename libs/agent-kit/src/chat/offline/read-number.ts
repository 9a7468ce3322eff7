import type { Amount } from './atom.js';
import { ALL_OF_IT, FRACTIONS, SCALES, UNITS, VAGUE } from './lexicon/numbers.js';
import type { Word } from './tokenize.js';

interface Decimal {
  digits: bigint;
  decimals: number;
}

export interface ReadAmount {
  amount: Amount;
  /** How many words it took. */
  length: number;
}

const parseDecimal = (text: string): Decimal => {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(`${whole}${fraction}` || '0'), decimals: fraction.length };
};

/** Decimal text without superfluous zeros. */
function formatDecimal({ digits, decimals }: Decimal): string {
  const text = digits.toString().padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const fraction = text.slice(text.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

const startsWith = (words: readonly Word[], at: number, phrase: string): number => {
  const parts = phrase.split(' ');
  return parts.every((part, index) => words[at + index]?.kind === 'word' && words[at + index]?.text === part)
    ? parts.length
    : 0;
};

const textAt = (words: readonly Word[], at: number): string => {
  const word = words[at];
  return word?.kind === 'word' || word?.kind === 'mark' ? word.text : '';
};

const share = (numerator: bigint, denominator: bigint, percent: string | null = null): Amount => ({
  kind: 'share',
  share: { numerator, denominator },
  percent,
});

const percentShare = (value: Decimal): Amount =>
  share(value.digits, 100n * 10n ** BigInt(value.decimals), formatDecimal(value));

/** Digits or number words, `two hundred and fifty`, `1.5 million`, `twenty-five`. */
function readCount(words: readonly Word[], start: number): { value: Decimal; length: number } | null {
  let at = start;
  if ((textAt(words, at) === 'a' || textAt(words, at) === 'an') && textAt(words, at + 1) in SCALES) at += 1;
  const first = words[at];
  if (first?.kind === 'number' && !first.text.includes('/')) {
    let value = parseDecimal(first.text);
    at += 1;
    for (let scale = SCALES[textAt(words, at)]; scale !== undefined; scale = SCALES[textAt(words, at)]) {
      value = { ...value, digits: value.digits * scale };
      at += 1;
    }
    return { value, length: at - start };
  }
  let total = 0n;
  let group: bigint | null = null;
  for (;;) {
    const unit = UNITS[textAt(words, at)];
    const scale: bigint | undefined = SCALES[textAt(words, at)];
    if (unit !== undefined) group = (group ?? 0n) + unit;
    else if (scale !== undefined && textAt(words, at).length > 1) {
      if (scale === 100n) group = (group ?? 1n) * scale;
      else {
        total += (group ?? 1n) * scale;
        group = 0n;
      }
    } else if (
      group !== null &&
      textAt(words, at) === 'and' &&
      textAt(words, at - 1) in SCALES &&
      textAt(words, at + 1) in UNITS
    ) {
      at += 1;
      continue;
    } else break;
    at += 1;
  }
  return group === null ? null : { value: { digits: total + group, decimals: 0 }, length: at - start };
}

function readFraction(
  words: readonly Word[],
  start: number,
): { numerator: bigint; denominator: bigint; length: number } | null {
  const first = words[start];
  if (first?.kind === 'number' && first.text.includes('/')) {
    const [numerator = '0', denominator = '0'] = first.text.split('/');
    if (BigInt(denominator) === 0n || BigInt(numerator) > BigInt(denominator)) return null;
    return { numerator: BigInt(numerator), denominator: BigInt(denominator), length: 1 };
  }
  let at = start;
  let numerator = 1n;
  const count = UNITS[textAt(words, at)];
  if (count !== undefined) {
    numerator = count;
    at += 1;
  } else if (['a', 'one'].includes(textAt(words, at))) at += 1;
  const denominator = FRACTIONS[textAt(words, at)];
  if (denominator === undefined || numerator === 0n || numerator > denominator) return null;
  return { numerator, denominator, length: at + 1 - start };
}

/** `half a bitcoin` is an amount, `half of my bitcoin` a share of a balance. */
function isPartOfOne(words: readonly Word[], at: number): number {
  const afterOf = textAt(words, at) === 'of' ? at + 1 : at;
  return ['a', 'an', 'one'].includes(textAt(words, afterOf)) ? afterOf + 1 - at : 0;
}

/** The amount that starts at a word, or null. */
export function readAmount(words: readonly Word[], at: number): ReadAmount | null {
  const word = words[at];
  if (!word) return null;
  if (word.kind === 'bad') return { amount: { kind: 'bad', text: word.text }, length: 1 };
  if (word.kind !== 'number' && word.kind !== 'word') return null;
  for (const phrase of VAGUE) {
    const length = startsWith(words, at, phrase);
    if (length > 0 && (phrase !== 'between' || readCount(words, at + length)))
      return { amount: { kind: 'bad', text: phrase }, length: length + (readCount(words, at + length)?.length ?? 0) };
  }
  const fraction = readFraction(words, at);
  if (fraction) {
    const { numerator, denominator, length } = fraction;
    const partOfOne = isPartOfOne(words, at + length);
    // Thirds have no decimal form.
    if (partOfOne > 0 && 100n % denominator === 0n) {
      const text = formatDecimal({ digits: (numerator * 100n) / denominator, decimals: 2 });
      return { amount: { kind: 'exact', text }, length: length + partOfOne };
    }
    return { amount: share(numerator, denominator), length };
  }
  for (const phrase of ALL_OF_IT) {
    const length = startsWith(words, at, phrase);
    if (length > 0) return { amount: share(1n, 1n), length };
  }
  const count = readCount(words, at);
  if (!count) return null;
  const { value, length } = count;
  const next = textAt(words, at + length);
  if (next === '%' || next === 'percent' || next === 'pct') return { amount: percentShare(value), length: length + 1 };
  if (next === 'per' && textAt(words, at + length + 1) === 'cent')
    return { amount: percentShare(value), length: length + 2 };
  const half = startsWith(words, at + length, 'and a half');
  if (half > 0) {
    const digits = value.digits * 10n + 5n * 10n ** BigInt(value.decimals);
    return {
      amount: { kind: 'exact', text: formatDecimal({ digits, decimals: value.decimals + 1 }) },
      length: length + half,
    };
  }
  return { amount: { kind: 'exact', text: formatDecimal(value) }, length };
}
