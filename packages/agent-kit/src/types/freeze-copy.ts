/** A deeply frozen copy of plain data: what was shown to a person, and checked against the policy, is what is sent. */
export function freezeCopy<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => freezeCopy(item))) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, field]) => [name, freezeCopy<unknown>(field)]);
  return Object.freeze(Object.fromEntries(entries)) as T;
}
