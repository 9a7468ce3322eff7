export type JsonRecord = Readonly<Record<string, unknown>>;

/** True for a JSON object: neither null nor an array. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads an own field only, so that nothing inherited (`__proto__`, a polluted prototype) passes for input. */
export const ownField = (record: JsonRecord, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;
