import { getMetadataStorage, validateSync } from 'class-validator';

import type { FileProblem, Place } from './parse-yaml.js';

/** A class whose properties are the keys of an entry. Each has a check; its initialisers are the defaults. */
export type EntryClass<Entry extends object> = new () => Entry;

export interface ParsedEntry<Entry extends object> {
  readonly place: Place;
  readonly description: Entry;
  /** Keys with a value of the wrong type, about which nothing more is reported. */
  readonly faulty: ReadonlySet<string>;
}

/** The keys of an entry, in their order. */
export function keysOf<Entry extends object>(entry: EntryClass<Entry>): (keyof Entry & string)[] {
  const checks = getMetadataStorage().getTargetValidationMetadatas(entry, '', false, false);
  return [...new Set(checks.map(({ propertyName }) => propertyName))] as (keyof Entry & string)[];
}

/** Parses one entry of a file. Parsing continues after a problem, which is added to `problems`. */
export function parseEntry<Entry extends object>(
  entryClass: EntryClass<Entry>,
  entry: Record<string, unknown>,
  place: Place,
  problems: FileProblem[],
): ParsedEntry<Entry> {
  const keys = keysOf(entryClass);
  reportUnknownKeys(entry, keys, place, problems);
  const description = new entryClass();
  const given = keys.filter((key) => Object.hasOwn(entry, key) && entry[key] !== null);
  Object.assign(description, Object.fromEntries(given.map((key) => [key, entry[key]])));

  const faulty = new Set<string>();
  for (const { property, constraints } of validateSync(description, { forbidUnknownValues: true })) {
    faulty.add(property);
    const missing = !given.some((key) => key === property);
    const [first] = Object.values(constraints ?? {}).reverse();
    problems.push({ place: [...place, property], message: missing ? 'is missing' : withoutName(first, property) });
  }
  return { place, description, faulty };
}

export function reportUnknownKeys(
  record: Record<string, unknown>,
  known: readonly string[],
  place: Place,
  problems: FileProblem[],
): void {
  for (const key of Object.keys(record)) {
    if (known.includes(key)) continue;
    problems.push({ place: [...place, key], message: `is unknown; ${hintAt(key, known, 'keys')}` });
  }
}

/** The place already names the property. */
function withoutName(message: string | undefined, property: string): string {
  const text = message ?? 'is not valid';
  return text.startsWith(`${property} `) ? text.slice(property.length + 1) : text;
}

/** What to write in place of an unknown name. @param what the names are, in the plural */
export function hintAt(written: string, known: readonly string[], what: string): string {
  const meant = suggestName(written, known);
  return meant === null ? `known ${what} are ${known.join(', ')}` : `did you mean "${meant}"?`;
}

/** The known name closest to a misspelt one, or null if none is close. */
function suggestName(written: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.min(3, Math.ceil(simplify(written).length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(simplify(written), simplify(name));
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

function simplify(name: string): string {
  return name.slice(0, 64).toLowerCase().replaceAll(/[-_]/g, '');
}

/** The Levenshtein distance: insertions, deletions and replacements that turn one text into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
