import { isRecord } from '@tollgate/protocol';
import { validateSync } from 'class-validator';

import type { Place, RouteProblem } from './parse-yaml.js';
import { ROUTE_KEYS, RouteDescription } from './route-description.js';

export interface ParsedDescription {
  readonly place: Place;
  readonly description: RouteDescription;
  /** Keys with a value of the wrong type, about which nothing more is reported. */
  readonly faulty: ReadonlySet<string>;
}

/** The entries of a routes file. Parsing continues after a problem, which is added to `problems`. */
export function parseRouteDescriptions(file: unknown, problems: RouteProblem[]): ParsedDescription[] {
  if (!isRecord(file)) {
    problems.push({ place: [], message: 'must have "routes:" with a list below it' });
    return [];
  }
  reportUnknownKeys(file, ['routes'], [], problems);
  const { routes } = file;
  if (!Array.isArray(routes) || routes.length === 0) {
    problems.push({ place: ['routes'], message: 'must be a list of at least one route' });
    return [];
  }
  return routes.flatMap((entry: unknown, index) => {
    const place = ['routes', index];
    if (isRecord(entry)) return parseEntry(entry, place, problems);
    problems.push({ place, message: 'must be a route: path, price, upstream' });
    return [];
  });
}

function parseEntry(entry: Record<string, unknown>, place: Place, problems: RouteProblem[]): ParsedDescription {
  reportUnknownKeys(entry, ROUTE_KEYS, place, problems);
  const description = new RouteDescription();
  const given = ROUTE_KEYS.filter((key) => Object.hasOwn(entry, key) && entry[key] !== null);
  Object.assign(description, Object.fromEntries(given.map((key) => [key, entry[key]])));

  const faulty = new Set<string>();
  for (const { property, constraints } of validateSync(description, { forbidUnknownValues: true })) {
    faulty.add(property);
    const missing = !given.includes(property as keyof RouteDescription);
    const [first] = Object.values(constraints ?? {}).reverse();
    problems.push({ place: [...place, property], message: missing ? 'is missing' : withoutName(first, property) });
  }
  return { place, description, faulty };
}

function reportUnknownKeys(
  record: Record<string, unknown>,
  known: readonly string[],
  place: Place,
  problems: RouteProblem[],
): void {
  for (const key of Object.keys(record)) {
    if (known.includes(key)) continue;
    const meant = suggestName(key, known);
    const hint = meant === null ? `known keys are ${known.join(', ')}` : `did you mean "${meant}"?`;
    problems.push({ place: [...place, key], message: `is unknown; ${hint}` });
  }
}

/** The place already names the property. */
function withoutName(message: string | undefined, property: string): string {
  const text = message ?? 'is not valid';
  return text.startsWith(`${property} `) ? text.slice(property.length + 1) : text;
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
