export type WordKind = 'word' | 'number' | 'bad' | 'id' | 'hex' | 'url' | 'quoted' | 'mark';

export interface Word {
  kind: WordKind;
  /** Lower case, contractions written out. */
  text: string;
  raw: string;
}

// Longer text is no request; what is cut off is not carried out in part, because the tokenizer says that it cut.
const MAX_LENGTH = 2_000;

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bcan't\b/g, 'cannot'],
  [/\bwon't\b/g, 'will not'],
  [/\bgimme\b/g, 'give me'],
  [/\bdont\b/g, 'do not'],
  [/\b(do|does|did|is|are|was|were|have|has|had|should|would|could|must|need)n't\b/g, '$1 not'],
  [/\blet's\b/g, 'let us'],
  [/\bi'm\b/g, 'i am'],
  [/\bim\b/g, 'i am'],
  [/\b(i|we|you|they|he|she|it|that|there|who)'d\b/g, '$1 would'],
  [/\bid like\b/g, 'i would like'],
  [/\b(i|we|you|they|it|that)'ll\b/g, '$1 will'],
  [/\b(i|we|you|they)'ve\b/g, '$1 have'],
  [/\b(we|you|they)'re\b/g, '$1 are'],
  [/\b(what|how|who|where|when|it|that|there|here|he|she|price)'s\b/g, '$1 is'],
  [/\bwhats\b/g, 'what is'],
  [/\bhows\b/g, 'how is'],
  [/\b(sei|usdc|wsei|btc|bitcoin|wbtc|stsei|dollar|buck)'s\b/g, '$1'],
  [/\b(dollars|bucks)'/g, '$1'],
  [/\bw\/o\b/g, 'without'],
  [/\bw\/(?= ?\S)/g, 'with '],
];

const DIGITS = String.raw`(?:\d[\d,]*(?:\.\d+)?|\.\d+)`;
const SCANNER = new RegExp(
  [
    String.raw`(?<url>https?:\/\/[^\s"<>]+)`,
    String.raw`(?<hex>\b0x[0-9a-z]*)`,
    String.raw`(?<id>(?:#|\bno\. ?)\d+\b)`,
    String.raw`(?<bad>-\$?\d[\d.,]*|\d[\d.,]*e[+-]?\d+|\d+(?:[._]\d+){2,}|\d+_\d[\d_]*)`,
    String.raw`(?<fraction>\b\d+\/\d+\b|[½⅓¼¾])`,
    String.raw`\$ ?(?<money>${DIGITS})(?<moneyScale>k|m)?\b`,
    String.raw`(?<number>${DIGITS})(?<unit> ?%|\$|[a-z]+)?`,
    String.raw`(?<arrow>->|→|=>|>)`,
    String.raw`(?<word>[\p{L}][\p{L}\p{N}]*(?:[-'][\p{L}\p{N}]+)*(?:\.(?:eth|sei)\b)?)`,
    String.raw`"(?<quoted>[^"]*)"`,
    String.raw`(?<mark>[^\s])`,
  ].join('|'),
  'giu',
);

const COMMA_NUMBER = /^(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?$/;
const VULGAR: Readonly<Record<string, string>> = { '½': '1/2', '⅓': '1/3', '¼': '1/4', '¾': '3/4' };

/** One spelling of quotes, dashes and blanks; nothing that cannot be seen. */
function normaliseText(text: string): string {
  return (
    text
      .slice(0, MAX_LENGTH)
      .replace(/[‘’‛`´]/g, "'")
      .replace(/[“”„«»]/g, '"')
      .replace(/[‐‑‒–—−]/g, '-')
      .replace(/×/g, 'x')
      .replace(/[\p{Cc}\p{Cf}]+/gu, (controls) => (controls.includes('\n') ? ' . ' : ' '))
      // A quotation in single quotes; an apostrophe has a letter before it.
      .replace(/(^|[\s(])'([^']+)'(?=$|[\s.,!?;:)])/g, '$1"$2"')
  );
}

function writeOutContractions(text: string): string {
  let result = text;
  for (const [pattern, replacement] of CONTRACTIONS)
    result = result.replace(new RegExp(pattern.source, 'gi'), replacement);
  return result;
}

function readNumber(digits: string, raw: string): Word {
  const trimmed = digits.replace(/,$/, '');
  if (!COMMA_NUMBER.test(trimmed)) return { kind: 'bad', text: trimmed, raw };
  return { kind: 'number', text: trimmed.replaceAll(',', ''), raw };
}

function readMatch(groups: Record<string, string | undefined>, raw: string): Word[] {
  const { url, hex, id, bad, fraction, money, moneyScale, number, unit, arrow, word, quoted } = groups;
  if (url !== undefined) return [{ kind: 'url', text: url.replace(/[.,!?;:)'\]]+$/, ''), raw }];
  if (hex !== undefined) return [{ kind: 'hex', text: hex, raw }];
  if (id !== undefined) return [{ kind: 'id', text: id.replace(/\D/g, ''), raw }];
  if (bad !== undefined) return [{ kind: 'bad', text: bad.replace(/[.,]$/, ''), raw }];
  if (fraction !== undefined) return [{ kind: 'number', text: VULGAR[fraction] ?? fraction, raw }];
  if (money !== undefined) {
    const scale: Word[] = moneyScale === undefined ? [] : [{ kind: 'word', text: moneyScale.toLowerCase(), raw }];
    return [readNumber(money, raw), ...scale, { kind: 'word', text: 'usd', raw: '$' }];
  }
  if (number !== undefined) {
    const rest: Word[] = number.endsWith(',') ? [{ kind: 'mark', text: ',', raw: ',' }] : [];
    if (unit === undefined) return [readNumber(number, number), ...rest];
    const text = unit.trim().toLowerCase();
    return [readNumber(number, raw), { kind: 'word', text: text === '$' ? 'usd' : text, raw: unit.trim() }];
  }
  if (arrow !== undefined) return [{ kind: 'word', text: '->', raw }];
  if (word !== undefined) return splitWord(word);
  if (quoted !== undefined) return readQuotation(quoted);
  return [{ kind: 'mark', text: raw, raw }];
}

/** `USDC-WSEI` and `top-up` are two words; `BTC-PERP` stays one. */
function splitWord(word: string): Word[] {
  const lower = word.toLowerCase();
  if (/-perp$/.test(lower) || !lower.includes('-')) return [{ kind: 'word', text: lower, raw: word }];
  return word.split('-').map((part) => ({ kind: 'word', text: part.toLowerCase(), raw: part }));
}

/** One quoted word is that word; a quoted sentence is somebody's words, and no request. */
function readQuotation(quoted: string): Word[] {
  const inner = quoted.trim();
  return /\s/.test(inner) ? [{ kind: 'quoted', text: inner, raw: `"${inner}"` }] : tokenize(inner);
}

/** The words, numbers and marks of a message. Never throws. */
export function tokenize(message: string): Word[] {
  let text = normaliseText(message).trim();
  // A message that is a quotation as a whole is meant as it stands.
  const whole = /^"([^"]*)"[.!?]?$/.exec(text);
  if (whole) text = whole[1] ?? '';
  text = writeOutContractions(text);
  return [...text.matchAll(SCANNER)].flatMap((match) => readMatch(match.groups ?? {}, match[0]));
}
