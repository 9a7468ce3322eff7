import { refuseRequest } from '../agent/request-invalid.js';

/** Filter and page of the resource listing. */
export interface ListingQuery {
  readonly type: string | undefined;
  /** Values that one of a resource's payment requirements must have, by field name. */
  readonly terms: Readonly<Partial<Record<(typeof TERMS)[number], string>>>;
  /** 1 to 100. */
  readonly limit: number;
  readonly offset: number;
}

const TERMS = ['payTo', 'scheme', 'network'] as const;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_OFFSET = 1_000_000;
const MAX_LENGTH = 300;
const INTEGER = /^\d{1,7}$/;

/**
 * Ignores unknown parameters: published clients occasionally send additional ones.
 * @throws ProblemError `request_invalid`
 */
export function parseListingQuery(query: unknown): ListingQuery {
  const values = query as Readonly<Record<string, unknown>>;
  const problems: string[] = [];
  const readText = (name: string): string | undefined => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || (typeof value === 'string' && value.length <= MAX_LENGTH)) return value;
    problems.push(`${name} must be given only once and have at most ${MAX_LENGTH} characters`);
    return undefined;
  };
  const readInteger = (name: string, fallback: number, [least, most]: readonly [number, number]): number => {
    const text = readText(name) ?? String(fallback);
    const value = INTEGER.test(text) ? Number(text) : NaN;
    if (!(value >= least && value <= most)) problems.push(`${name} must be a whole number from ${least} to ${most}`);
    return value;
  };
  const terms = TERMS.flatMap((name) => {
    const value = readText(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const parsed: ListingQuery = {
    type: readText('type'),
    terms: Object.fromEntries(terms),
    limit: readInteger('limit', DEFAULT_LIMIT, [1, MAX_LIMIT]),
    offset: readInteger('offset', 0, [0, MAX_OFFSET]),
  };
  if (problems.length > 0) throw refuseRequest(problems);
  return parsed;
}
