import { validateSync } from 'class-validator';

import type { Place, RouteProblem } from './place.js';
import { ROUTE_KEYS, RouteDescription } from './route-description.js';
import { suggestName } from './suggest-name.js';

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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
