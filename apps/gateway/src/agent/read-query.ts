/** Long enough for a cursor, and for all states at once. */
const MAX_LENGTH = 300;

export interface QueryReading {
  /** Values by name of the parameters that were given. */
  readonly values: ReadonlyMap<string, string>;
  readonly problems: string[];
}

/** Reads the parameters of a query. An unknown or repeated parameter is a problem. */
export function readParameters(query: unknown, names: readonly string[]): QueryReading {
  const values = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    const known = names.find((one) => one === name);
    if (known === undefined)
      problems.push(`"${name.slice(0, 40)}" is not a parameter here; known parameters are ${names.join(', ')}.`);
    else if (typeof value !== 'string') problems.push(`${known} must be given only once.`);
    else if (value.length > MAX_LENGTH) problems.push(`${known} is too long.`);
    else values.set(known, value);
  }
  return { values, problems };
}

/** Reads a list of known words such as `FINAL,REVERTED`. Undefined if the parameter was not given. */
export function readWords<T extends string>(
  { values, problems }: QueryReading,
  name: string,
  words: readonly T[],
): readonly T[] | undefined {
  const text = values.get(name);
  if (text === undefined) return undefined;
  const asked = text.split(',');
  const found = words.filter((word) => asked.includes(word));
  const areKnown = asked.every((word) => (words as readonly string[]).includes(word));
  if (!areKnown) problems.push(`${name} must be one or more of ${words.join(', ')}, separated by commas.`);
  return found;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** The maximum number of items to return. */
export function readLimit({ values, problems }: QueryReading): number {
  const limit = values.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT) problems.push(`limit must be 1 to ${MAX_LIMIT}.`);
  return Number(limit);
}
