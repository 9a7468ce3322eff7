import type { Amount, Atom } from './atom.js';

/** A noun phrase of a clause with the preposition before it: `for 1 USDC`, `at 10x leverage`, `position 3`. */
export interface Phrase {
  preposition: string | null;
  /** The verb it follows. */
  verb: string | null;
  amount: Amount | null;
  asset: string | null;
  /** The amount was said in dollars. */
  isMoney: boolean;
  address: string | null;
  badHex: string | null;
  url: string | null;
  id: string | null;
  leverage: string | null;
  bps: string | null;
  nouns: string[];
  pronoun: boolean;
  unknown: string[];
}

const createPhrase = (preposition: string | null, verb: string | null): Phrase => ({
  preposition,
  verb,
  amount: null,
  asset: null,
  isMoney: false,
  address: null,
  badHex: null,
  url: null,
  id: null,
  leverage: null,
  bps: null,
  nouns: [],
  pronoun: false,
  unknown: [],
});

const NUMBERED = new Set(['position', 'liquidity', 'nft', 'token']);
const isToken = (atom: Atom | undefined): boolean => atom?.kind === 'asset' || atom?.kind === 'money';
const isWhole = (amount: Amount): amount is { kind: 'exact'; text: string } =>
  amount.kind === 'exact' && /^\d+$/.test(amount.text);

/** Whether `of`, or `in` after a bare share, goes on with the phrase: `half of my USDC`, `everything in USDC`. */
function goesOn(phrase: Phrase, preposition: string, next: Atom | undefined): boolean {
  // "with leverage of 3"
  if (phrase.nouns.at(-1) === 'leverage' && next?.kind === 'amount') return true;
  if (phrase.amount === null || phrase.asset !== null || next === undefined) return false;
  if (preposition === 'of') return ['asset', 'noun', 'pronoun'].includes(next.kind);
  return preposition === 'in' && phrase.amount.kind === 'share' && next.kind === 'asset';
}

/** The noun phrases of a clause, in order. */
export function readPhrases(atoms: readonly Atom[]): Phrase[] {
  const phrases: Phrase[] = [];
  let current = createPhrase(null, null);
  let verb: string | null = null;
  const start = (preposition: string | null): Phrase => {
    current = createPhrase(preposition, verb);
    phrases.push(current);
    return current;
  };
  start(null);
  for (const [index, atom] of atoms.entries()) {
    switch (atom.kind) {
      case 'preposition':
        if (!goesOn(current, atom.id, atoms[index + 1])) start(atom.id);
        break;
      case 'verb':
        verb = atom.id;
        start(null);
        break;
      case 'joint':
        start(null);
        break;
      case 'amount': {
        const amount = atom.amount ?? { kind: 'bad', text: atom.raw };
        const lastNoun = current.nouns.at(-1) ?? '';
        if (lastNoun === 'leverage' && amount.kind === 'exact') current.leverage = amount.text;
        else if (NUMBERED.has(lastNoun) && current.id === null && isWhole(amount) && !isToken(atoms[index + 1]))
          current.id = amount.text;
        else {
          // "USDC to WSEI 1": a number after a token is of no particular token.
          if (current.amount !== null || current.asset !== null) start(null);
          current.amount = amount;
        }
        break;
      }
      case 'asset':
      case 'money':
        if (current.asset !== null || current.address !== null) start(null);
        current.asset = atom.id;
        if (atom.kind === 'money') current.isMoney = true;
        break;
      case 'address':
        if (current.address !== null || current.asset !== null)
          start(current.asset !== null ? null : current.preposition);
        current.address = atom.id;
        break;
      case 'leverage':
        if (current.leverage !== null) start(null);
        current.leverage = atom.id;
        break;
      case 'noun':
        if (atom.id === 'leverage' && current.amount?.kind === 'exact' && current.asset === null) {
          current.leverage = current.amount.text;
          current.amount = null;
        }
        current.nouns.push(atom.id);
        break;
      case 'bps':
      case 'url':
      case 'id':
      case 'badHex':
        if (current[atom.kind] !== null) start(null);
        current[atom.kind] = atom.id;
        break;
      case 'pronoun':
        current.pronoun = true;
        break;
      case 'unknown':
      case 'quoted':
        current.unknown.push(atom.raw);
        break;
      case 'act':
        break;
    }
  }
  return phrases.filter((phrase) => !isEmpty(phrase));
}

const isEmpty = ({
  amount,
  asset,
  address,
  badHex,
  url,
  id,
  leverage,
  bps,
  nouns,
  pronoun,
  unknown,
}: Phrase): boolean =>
  [amount, asset, address, badHex, url, id, leverage, bps].every((part) => part === null) &&
  nouns.length === 0 &&
  !pronoun &&
  unknown.length === 0;
