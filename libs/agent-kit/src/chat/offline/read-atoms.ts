import type { Atom, AtomKind } from './atom.js';
import { correctSpelling } from './correct-spelling.js';
import { ASSETS, CAPITAL_ONLY, MONEY } from './lexicon/assets.js';
import { ACTS, FILLERS, JOINTS, PREPOSITIONS, PRONOUNS } from './lexicon/markers.js';
import { NOUNS } from './lexicon/nouns.js';
import { VERBS } from './lexicon/verbs.js';
import { readAmount } from './read-number.js';
import type { Word } from './tokenize.js';

interface Entry {
  words: readonly string[];
  kind: AtomKind | 'filler';
  id: string;
  form?: NonNullable<Atom['form']>;
}

const DOUBLED = /(?:swap|wrap|put|get|let|dump|flip|cut)$/;

const gerundOf = (verb: string): string => {
  if (/ie$/.test(verb)) return verb.replace(/ie$/, 'ying');
  if (/[^e]e$/.test(verb)) return verb.replace(/e$/, 'ing');
  return `${DOUBLED.test(verb) && !verb.endsWith('dump') ? verb + verb.slice(-1) : verb}ing`;
};

const pastOf = (verb: string): string => {
  if (verb.endsWith('e')) return `${verb}d`;
  if (/[^aeo]y$/.test(verb)) return verb.replace(/y$/, 'ied');
  return `${DOUBLED.test(verb) && !verb.endsWith('dump') ? verb + verb.slice(-1) : verb}ed`;
};

function* verbEntries(id: string, spellings: string): Generator<Entry> {
  for (const spelling of spellings.split(', ')) {
    const [base = '', irregular] = spelling.split('/');
    const [head = '', ...particles] = base.split(' ');
    yield { words: [head, ...particles], kind: 'verb', id, form: 'base' };
    yield { words: [gerundOf(head), ...particles], kind: 'verb', id, form: 'gerund' };
    const past = irregular ? irregular.split(' ') : [pastOf(head), ...particles];
    if (past.join(' ') !== base) yield { words: past, kind: 'verb', id, form: 'past' };
  }
}

function* tableEntries(table: Readonly<Record<string, string>>, kind: AtomKind): Generator<Entry> {
  for (const [id, phrases] of Object.entries(table)) {
    for (const phrase of phrases.split(', ')) yield { words: phrase.split(' '), kind, id };
  }
}

/** Where the same words stand in two tables, the earlier table has them. */
function* allEntries(): Generator<Entry> {
  yield* tableEntries(ASSETS, 'asset');
  for (const phrase of MONEY) yield { words: phrase.split(' '), kind: 'money', id: 'USDC' };
  yield* tableEntries(ACTS, 'act');
  yield* tableEntries(JOINTS, 'joint');
  yield* tableEntries(PREPOSITIONS, 'preposition');
  yield* tableEntries(PRONOUNS, 'pronoun');
  yield* tableEntries(NOUNS, 'noun');
  for (const [id, spellings] of Object.entries(VERBS)) yield* verbEntries(id, spellings);
  for (const phrase of FILLERS) yield { words: phrase.split(' '), kind: 'filler', id: phrase };
}

function indexEntries(): ReadonlyMap<string, readonly Entry[]> {
  const index = new Map<string, Entry[]>();
  for (const entry of allEntries()) {
    const first = entry.words[0] ?? '';
    const others = index.get(first) ?? [];
    if (!others.some(({ words }) => words.join(' ') === entry.words.join(' '))) others.push(entry);
    index.set(first, others);
  }
  for (const entries of index.values()) entries.sort((left, right) => right.words.length - left.words.length);
  return index;
}

const INDEX = indexEntries();

/** What a misspelt word may mean: verbs, tokens and the longer nouns, never a filler or a marker. */
// "Aave" is no "have", and "wait" is no "want".
const NEVER_MEANT = new Set(['own', 'get']);
const VOCABULARY: ReadonlyMap<string, string> = new Map(
  [...INDEX.values()]
    .flat()
    .filter(
      ({ words, kind, form, id }) =>
        words.length === 1 && form !== 'past' && ['verb', 'asset', 'noun'].includes(kind) && !NEVER_MEANT.has(id),
    )
    .map(({ words, kind, id }) => [words[0] ?? '', `${kind} ${id}`] as const),
);

function findEntry(words: readonly Word[], at: number): Entry | null {
  const entries = INDEX.get(words[at]?.text ?? '') ?? [];
  return (
    entries.find((entry) =>
      entry.words.every((text, offset) => words[at + offset]?.kind === 'word' && words[at + offset]?.text === text),
    ) ?? null
  );
}

const MARK_JOINTS: Readonly<Record<string, string>> = {
  ',': 'comma',
  ':': 'comma',
  '&': 'and',
  '+': 'and',
  '/': 'slash',
};

function readMark({ text, raw }: Word): Atom | null {
  const joint = MARK_JOINTS[text] ?? (/[.;!?]/.test(text) ? 'stop' : null);
  return joint === null ? null : { kind: 'joint', id: joint, raw };
}

function readUnknown({ text, raw }: Word): Atom {
  const product = /^([a-z]{2,10})-perp$/.exec(text);
  if (product) return { kind: 'asset', id: text.toUpperCase(), raw };
  if (/^x\d{1,4}$/.test(text)) return { kind: 'leverage', id: text.slice(1), raw };
  const known = correctSpelling(text, VOCABULARY);
  const entry = known === null ? undefined : INDEX.get(known)?.find(({ words }) => words.length === 1);
  if (entry && entry.kind !== 'filler') {
    return {
      kind: entry.kind,
      id: entry.id,
      raw,
      readAs: entry.kind === 'asset' && entry.id !== '0x0' ? entry.id : (known ?? ''),
      ...(entry.form && { form: entry.form }),
    };
  }
  // Other symbols are for the chain's token list to judge.
  if (/^[A-Z][A-Z0-9.]{1,10}$/.test(raw)) return { kind: 'asset', id: raw, raw };
  return { kind: 'unknown', id: text, raw };
}

function readSpecial(word: Word): Atom | null {
  const { kind, text, raw } = word;
  if (kind === 'mark') return readMark(word);
  if (kind === 'url' || kind === 'id' || kind === 'quoted') return { kind, id: text, raw };
  if (text === '0x0') return { kind: 'asset', id: '0x0', raw };
  return /^0x[0-9a-f]{40}$/i.test(text) ? { kind: 'address', id: text, raw } : { kind: 'badHex', id: text, raw };
}

const OF_BEFORE = new Set(['my', 'our', 'last', 'previous', 'latest', 'recent', 'earlier']);
const AUXILIARIES = new Set(['is', 'are', 'does', 'has']);

const isMaximum = (word: Word | undefined): boolean => word?.text === 'max' || word?.text === 'maximum';

const SINGLE_MONEY = new Set(['dollar', 'buck']);
const LEVERAGE_WORDS = new Set(['x', 'times', 'fold']);

function readAmountAtom(words: readonly Word[], at: number): { atom: Atom; length: number } | null {
  const read = readAmount(words, at);
  if (words[at]?.text === 'a' && SINGLE_MONEY.has(words[at + 1]?.text ?? ''))
    return { atom: { kind: 'amount', id: '1', raw: 'a', amount: { kind: 'exact', text: '1' } }, length: 1 };
  if (!read) return null;
  // "max 0.5" bounds a number; "max" alone is all of a balance.
  if (isMaximum(words[at]) && readAmount(words, at + 1)?.amount.kind !== undefined)
    return { atom: { kind: 'preposition', id: 'atMost', raw: words[at]?.raw ?? '' }, length: 1 };
  const { amount, length } = read;
  const raw = words
    .slice(at, at + length)
    .map((word) => word.raw)
    .join(' ');
  const next = words[at + length]?.text ?? '';
  if (amount.kind === 'exact') {
    if (LEVERAGE_WORDS.has(next)) return { atom: { kind: 'leverage', id: amount.text, raw }, length: length + 1 };
    const points = ['bps', 'bp'].includes(next) ? 1 : next === 'basis' ? 2 : 0;
    if (points > 0) return { atom: { kind: 'bps', id: amount.text, raw }, length: length + points };
  }
  return { atom: { kind: 'amount', id: raw, raw, amount }, length };
}

/** The atoms of a message: set phrases by the longest match, numbers, and words that are not in the lexicon. Fillers are left out. */
export function readAtoms(words: readonly Word[]): Atom[] {
  const atoms: Atom[] = [];
  let at = 0;
  while (at < words.length) {
    const word = words[at];
    if (!word) break;
    if (word.kind !== 'word' && word.kind !== 'number' && word.kind !== 'bad') {
      // "5 USDC to SEI?" asks; with a verb the mark is courtesy: "could you stake 2?"
      if (word.text === '?' && !atoms.some(({ kind }) => kind === 'verb'))
        atoms.push({ kind: 'act', id: 'question', raw: '?' });
      const atom = readSpecial(word);
      if (atom) atoms.push(atom);
      at += 1;
      continue;
    }
    const entry = CAPITAL_ONLY.includes(word.raw) ? null : findEntry(words, at);
    const amount = readAmountAtom(words, at);
    if (amount && amount.length >= (entry?.words.length ?? 0) && !isFixedPhrase(entry, amount.length)) {
      atoms.push(amount.atom);
      at += amount.length;
    } else if (entry) {
      const raw = words
        .slice(at, at + entry.words.length)
        .map((part) => part.raw)
        .join(' ');
      // "Is 5 USDC to SEI a good swap", "swapping 1 USDC costs gas", "my last swap": none of them is an order.
      const isFirst = atoms.length === 0 || atoms.at(-1)?.kind === 'joint';
      const isTopic = entry.form === 'gerund' && (at === 0 || words[at - 1]?.text === 'of');
      const isReference = entry.form === 'base' && OF_BEFORE.has(words[at - 1]?.text ?? '');
      if ((entry.kind === 'filler' && isFirst && AUXILIARIES.has(entry.id)) || isTopic || isReference)
        atoms.push({ kind: 'act', id: 'asking', raw });
      if (entry.kind !== 'filler')
        atoms.push({ kind: entry.kind, id: entry.id, raw, ...(entry.form && { form: entry.form }) });
      at += entry.words.length;
    } else {
      atoms.push(CAPITAL_ONLY.includes(word.raw) ? { kind: 'asset', id: word.raw, raw: word.raw } : readUnknown(word));
      at += 1;
    }
  }
  return atoms;
}

/** `at most` and `up to` are no amounts, though `most` alone would be a vague one. */
const isFixedPhrase = (entry: Entry | null, amountLength: number): boolean =>
  entry !== null && entry.words.length >= amountLength && entry.kind === 'preposition';
