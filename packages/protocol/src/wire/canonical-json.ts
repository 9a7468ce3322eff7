const MAX_DEPTH = 100;

/**
 * JSON without spaces and with object keys sorted by UTF-16 code units, so that equal values give equal text. Undefined
 * properties are omitted.
 * @throws TypeError for a value that JSON cannot hold: a bigint, a number that is not finite, a class instance,
 * undefined in an array; also for a cycle or nesting deeper than 100.
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
    throw new TypeError(isNumber ? 'a number that is not finite is not JSON' : `JSON has no ${typeof value}`);
  }
  return JSON.stringify(value);
}

// Written as text at once instead of building a sorted object, which would put names like "10" first whatever the
// sorting.
function writeObject(value: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new TypeError('a class instance is not JSON');
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${write(member, depth + 1)}`);
  return `{${members.join(',')}}`;
}
