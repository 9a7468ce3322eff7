const MAX_DEPTH = 100;

/**
 * JSON with the names of every object in the order of their UTF-16 code units and no spaces: the same value is always the
 * same text. Properties that are undefined are left out.
 * @throws TypeError for what JSON cannot hold: a bigint, a number that is not finite, an instance of a class, undefined in
 * an array; and for a cycle, or anything else that is nested more than 100 deep.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new TypeError('nested too deep for JSON');
  if (Array.isArray(value)) return `[${Array.from(value, (member) => write(member, depth + 1)).join(',')}]`;
  if (typeof value === 'object' && value !== null) return writeObject(value, depth);
  const isNumber = typeof value === 'number';
  if (isNumber ? !Number.isFinite(value) : typeof value !== 'string' && typeof value !== 'boolean' && value !== null) {
    throw new TypeError(isNumber ? 'a number that is not finite' : `JSON has no ${typeof value}`);
  }
  return JSON.stringify(value);
}

// Text at once, and no sorted object: an object puts names like "10" before all others, whatever they were sorted by.
function writeObject(value: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) throw new TypeError('an instance of a class');
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${write(member, depth + 1)}`);
  return `{${members.join(',')}}`;
}
