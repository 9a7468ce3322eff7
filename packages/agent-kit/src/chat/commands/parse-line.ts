import { parseArgs } from 'node:util';

import { z } from 'zod';

import { quoteUntrusted } from '../../types/untrusted-text.js';
import {
  describeCommand,
  describeNearest,
  findCommand,
  FLAG_ALIASES,
  isSame,
  UNIT,
  type Command,
  type Slot,
} from './commands.js';

/** The names that words may use on this chain. */
export interface Vocabulary {
  commands: readonly Command[];
  /** Symbols of the token list. */
  tokens: readonly string[];
  /** Resources that may be paid for by name: `weather` -> its URL. */
  resources: Readonly<Record<string, string>>;
}

export interface ParsedOrder {
  kind: 'order';
  command: Command;
  /** By field, as text. */
  input: Readonly<Record<string, string>>;
  /** The token that was written after an amount whose token is fixed. */
  unit: string | null;
  /** Inputs to prompt for. */
  missing: readonly Slot[];
  isLong: boolean;
}

export type ParsedLine =
  | ParsedOrder
  | { kind: 'help'; about: Command | null }
  | { kind: 'history'; isLong: boolean }
  | { kind: 'refused'; reason: string };

const MAX_LINE_LENGTH = 4_096;
// Politeness and the frame of a question; these words never change the meaning of a line.
const FILL_WORDS = ['please', 'the', 'my', 'me', 'what', "what's", 'is', 'show'];
const NUMBER = /^[-+.]?\d(?!x)/i;

const refuse = (reason: string): ParsedLine => ({ kind: 'refused', reason });

/**
 * Parses a line. Every word of it must be the command, an input, a flag, a link or a fill word; any other word is
 * named, and the line refused. No question is asked and nothing runs here.
 */
export function parseLine(line: string, vocabulary: Vocabulary): ParsedLine {
  if (line.length > MAX_LINE_LENGTH) return refuse(`The line is longer than ${MAX_LINE_LENGTH} characters.`);
  const words = splitLine(line);
  const at = words.findIndex((word) => !word.startsWith('-'));
  const name = words[at] ?? '';
  const rest = words.filter((_, index) => index !== at);
  if (isSame(name, 'history')) {
    const other = rest.find((word) => word !== '--json');
    if (other === undefined) return { kind: 'history', isLong: rest.length > 0 };
    return refuse(`history takes no ${quoteUntrusted(other, 60)}.`);
  }
  const isHelp = isSame(name, 'help');
  if (isHelp && rest.length === 0) return { kind: 'help', about: null };
  const command = findCommand(isHelp ? (rest[0] ?? '') : name, vocabulary.commands);
  if (!command) return refuse(describeNearest(isHelp ? rest : words, vocabulary.commands));
  return isHelp ? { kind: 'help', about: command } : parseWords(command, rest, vocabulary);
}

function splitLine(line: string): string[] {
  const words = line.split(/\s+/).filter((word) => word !== '');
  // The mark that ends a sentence; in a URL it may be a part of it.
  const last = words.pop() ?? '';
  words.push(last.includes('/') ? last : last.replace(/[?!.]+$/, ''));
  return words.filter((word) => word !== '' && !FILL_WORDS.includes(word.toLowerCase()));
}

function parseWords(command: Command, words: readonly string[], vocabulary: Vocabulary): ParsedLine {
  const flags = readFlags(command, words);
  if (typeof flags === 'string') return refuse(`${flags}\n${describeCommand(command)}`);
  const { input, unknown } = placeWords(command, flags.positionals, vocabulary);
  for (const { slot, word } of flags.given) {
    if (input.has(slot.field)) return refuse(`${slot.field} is given twice.`);
    const value = takeWord(slot, word, vocabulary);
    if (value === null) unknown.push(word);
    else input.set(slot.field, value);
  }
  if (unknown.length > 0) return refuse(describeUnknown(unknown, command, vocabulary));
  const unit = input.get(UNIT) ?? null;
  input.delete(UNIT);
  const slots = command.parts.filter((part) => 'field' in part);
  const missing = slots.filter(({ field, isAsked }) => isAsked && !input.has(field));
  return { kind: 'order', command, input: Object.fromEntries(input), unit, missing, isLong: flags.isLong };
}

/** The words that are not flags, and each flag's value; or the error in the flags. */
function readFlags({ flags }: Command, words: readonly string[]) {
  // Behind it, parseArgs takes a flag for a word.
  if (words.includes('--')) return 'A word cannot be "--".';
  const fields = flags.map(({ field }) => field);
  const names = [
    ...fields,
    ...Object.keys(FLAG_ALIASES).filter((name) => fields.includes(FLAG_ALIASES[name]?.field ?? '')),
  ];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string', multiple: true } as const]));
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: { ...options, json: { type: 'boolean' } },
      allowPositionals: true,
    });
    const { json = false, ...texts } = values;
    const given = Object.entries(texts).flatMap(([name, text]) => {
      const { field: named, read = String } = FLAG_ALIASES[name] ?? { field: name };
      const slot = flags.find(({ field }) => field === named);
      return slot ? [text].flat().map((word) => ({ slot, word: read(String(word)) })) : [];
    });
    return { positionals, given, isLong: json };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Gives each word to the next part that it fits; a word that fits none is unknown. */
function placeWords({ parts }: Command, words: readonly string[], vocabulary: Vocabulary) {
  const input = new Map<string, string>();
  const unknown: string[] = [];
  let next = 0;
  let hasGap = false;
  for (const word of words) {
    const at = parts.findIndex((part, index) => {
      if (index < next) return false;
      return 'field' in part ? takeWord(part, word, vocabulary) !== null : part.includes(word.toLowerCase());
    });
    const part = parts[at];
    const isNumber = NUMBER.test(word);
    // `swap USDC 1 SEI`: after a word that left out an amount it is unclear which token a number counts.
    if (!part || (hasGap && isNumber)) {
      unknown.push(word);
      continue;
    }
    hasGap ||= !isNumber && parts.slice(next, at).some((skipped) => 'field' in skipped);
    if ('field' in part) input.set(part.field, takeWord(part, word, vocabulary) ?? '');
    next = at + 1;
  }
  return { input, unknown };
}

/** The value of a word for an input; null where it does not fit. */
export function takeWord(slot: Slot, word: string, { tokens, resources }: Vocabulary): string | null {
  const { field, schema, isToken } = slot;
  if (isToken) return /^0x/i.test(word) || tokens.some((token) => isSame(token, word)) ? word : null;
  if (field === 'url' && Object.hasOwn(resources, word)) return resources[word] ?? null;
  if (field === 'url') return URL.canParse(word) ? word : null;
  // `max` and `LONG`; the case of an address is its checksum.
  const spellings = /^[a-z]+$/i.test(word) ? [word, word.toUpperCase(), word.toLowerCase()] : [word];
  return spellings.find((spelling) => z.safeParse(schema, spelling).success) ?? null;
}

/** Names the words, and shows the command's parts. */
function describeUnknown(words: readonly string[], command: Command, vocabulary: Vocabulary): string {
  const named = words.map((word) => quoteUntrusted(word, 60)).join(', ');
  const slot = command.flags.find(({ isToken }) => isToken);
  return `I cannot read ${named} here.${slot ? listKnownTokens(slot, vocabulary) : ''}\n${describeCommand(command)}`;
}

/** Names the tokens where an input is one. */
export function listKnownTokens({ isToken }: Slot, { tokens }: Vocabulary): string {
  return isToken ? ` The tokens are ${tokens.join(', ')}.` : '';
}
