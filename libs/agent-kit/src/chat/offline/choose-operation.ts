import type { Atom } from './atom.js';
import { QUOTE_RULES, READ_RULES, TOPICS, WRITE_RULES } from './lexicon/operation-rules.js';
import { WRITING_VERBS } from './lexicon/verbs.js';

type Features = ReadonlySet<string>;

interface Rule {
  operation: string;
  needs: readonly (readonly string[])[];
  excludes: readonly string[];
}

const parseRules = (rules: readonly (readonly [string, string])[]): readonly Rule[] =>
  rules.map(([operation, condition]) => {
    const words = condition.split(' ');
    return {
      operation,
      needs: words.filter((word) => !word.startsWith('!')).map((word) => word.split('|')),
      excludes: words.filter((word) => word.startsWith('!')).map((word) => word.slice(1)),
    };
  });

const QUOTES = parseRules(QUOTE_RULES);
const WRITES = parseRules(WRITE_RULES);
const READS = parseRules(READ_RULES);
const SUBJECTS = parseRules(TOPICS);

const findRule = (rules: readonly Rule[], features: Features): string | null =>
  rules.find(
    ({ needs, excludes }) =>
      needs.every((choices) => choices.some((choice) => features.has(choice))) &&
      !excludes.some((word) => features.has(word)),
  )?.operation ?? null;

export const hasAct = (atoms: readonly Atom[], act: string): boolean =>
  atoms.some(({ kind, id }) => kind === 'act' && id === act);

// A position that is there already.
const ABOUT_POSITIONS = ['#my', '#pnl', '#status', '#worth', '#howMuch', '#which', '#when', '#position', '?question'];

// No address, and the only other hexadecimal text that means something here.
const TRANSACTION_HASH = /^0x[0-9a-f]{64}$/i;

/** What a clause says, as the words that rules are written in. */
export function readFeatures(atoms: readonly Atom[]): Features {
  const features = new Set<string>();
  const isHypothetical = hasAct(atoms, 'hypothetical');
  for (const { kind, id, form } of atoms) {
    if (kind === 'verb') features.add(form === 'past' && !isHypothetical ? `${id}-ed` : id);
    else if (kind === 'noun') features.add(`#${id}`);
    else if (kind === 'preposition') features.add(`@${id}`);
    else if (kind === 'act') features.add(`?${id}`);
    else if (kind === 'asset' || kind === 'money') features.add('asset').add(`asset:${id}`);
    else features.add(kind);
    if (kind === 'badHex' && TRANSACTION_HASH.test(id)) features.add('hash');
  }
  const tokens = atoms.filter(({ kind, id }) => (kind === 'asset' || kind === 'money') && !id.endsWith('-PERP'));
  if (new Set(tokens.map(({ id }) => id)).size > 1) features.add('assets');
  if (atoms.some(({ amount }) => amount?.kind === 'share' && amount.share.numerator === amount.share.denominator))
    features.add('all');
  if (!atoms.some(({ kind }) => kind === 'verb')) features.add('verbless');
  const [first, second] = atoms.filter(({ kind }) => kind !== 'joint' && kind !== 'act');
  if (first?.kind === 'address') features.add('addressFirst');
  // "long 0.01 BTC": the noun is the verb.
  const opens = (atom: Atom | undefined) => atom?.kind === 'noun' && (atom.id === 'long' || atom.id === 'short');
  if (opens(first) || (first?.kind === 'noun' && first.id === 'my' && opens(second) && features.has('amount')))
    features.add('open');
  // "10x short ETH-PERP 1"
  const names = (...words: string[]) => words.some((word) => features.has(word));
  if (names('verbless') && names('#long', '#short') && names('amount') && names('asset') && !names(...ABOUT_POSITIONS))
    features.add('open');
  if (first?.kind === 'noun' && first.id === 'liquidity' && second?.kind === 'amount') features.add('provide');
  return features;
}

const isCommand = (atoms: readonly Atom[]): boolean =>
  atoms.some(
    ({ kind, id, form }) =>
      kind === 'verb' && (form !== 'past' || hasAct(atoms, 'hypothetical')) && WRITING_VERBS.has(id),
  );

/** "unstake half of what I staked": the question word is no question. */
const isImperative = ([first]: readonly Atom[]): boolean =>
  first?.kind === 'verb' && first.form === 'base' && WRITING_VERBS.has(first.id);

/** "am I providing liquidity": what is there, and nothing to do. */
const isAsking = (atoms: readonly Atom[]): boolean =>
  hasAct(atoms, 'asking') ||
  (atoms[0]?.kind === 'noun' && atoms[0].id === 'my' && /^(?:am|do|have)\b/i.test(atoms[0].raw));

export type Choice =
  { kind: 'write' | 'read' | 'quote' | 'explain'; operation: string } | { kind: 'statement' } | { kind: 'none' };

/** Which operation a clause asks for, and whether to carry it out or to explain it. */
export function chooseOperation(atoms: readonly Atom[]): Choice {
  const features = readFeatures(atoms);
  const has = (...words: string[]) => words.some((word) => features.has(word));
  const isQuestion = (has('#howMuch', '#which', '#when') || isAsking(atoms)) && !isImperative(atoms);
  const isAsked = isQuestion || has('?hypothetical', '#quote', 'quote', 'show') || !isCommand(atoms);
  const quote = isAsked ? findRule(QUOTES, features) : null;
  if (quote && !has('?howTo')) return { kind: 'quote', operation: quote };
  const write =
    isCommand(atoms) || has('open', 'get', 'show', 'provide', '#loan', 'verbless') ? findRule(WRITES, features) : null;
  // "write me a poem about staking": the first word is what is asked for.
  const read = atoms[0]?.kind === 'unknown' ? null : findRule(READS, features);
  if (has('?howTo')) {
    const topic = write ?? findRule(SUBJECTS, features);
    if (read && !write && has('#my')) return { kind: 'read', operation: read };
    return topic ? { kind: 'explain', operation: topic } : { kind: 'none' };
  }
  if (write && !isQuestion) {
    if (!has('?hypothetical')) return { kind: 'write', operation: write };
    if (write === 'swap' && has('amount') && has('asset')) return { kind: 'quote', operation: 'getSwapQuote' };
    return { kind: 'explain', operation: write };
  }
  if (read && (read !== 'getERC20Balance' || !write)) return { kind: 'read', operation: read };
  if (write) return { kind: 'explain', operation: write };
  const topic = findRule(SUBJECTS, features);
  if (topic && atoms.every(({ kind }) => kind === 'noun' || kind === 'act'))
    return { kind: 'explain', operation: topic };
  return { kind: atoms.some(({ kind, form }) => kind === 'verb' && form === 'past') ? 'statement' : 'none' };
}
