import type { Share } from './intent.js';

export type Amount =
  | { kind: 'exact'; text: string }
  | { kind: 'share'; share: Share; percent: string | null }
  /** Written like an amount, but none: `-5`, `1,5`, `a few`. */
  | { kind: 'bad'; text: string };

export type AtomKind =
  | 'verb'
  | 'noun'
  | 'asset'
  | 'address'
  | 'badHex'
  | 'url'
  | 'amount'
  | 'money'
  | 'id'
  | 'leverage'
  | 'bps'
  | 'preposition'
  | 'joint'
  | 'act'
  | 'pronoun'
  | 'quoted'
  | 'unknown';

/** What the grammar works on: a word, a set phrase or a number, with its class. */
export interface Atom {
  kind: AtomKind;
  /** The entry of the lexicon, or the normalised text. */
  id: string;
  /** As the person wrote it. */
  raw: string;
  /** Of a verb: `swap`, `swapping`, `swapped`. */
  form?: 'base' | 'gerund' | 'past';
  amount?: Amount;
  /** What a misspelt word was read as. */
  readAs?: string;
}
