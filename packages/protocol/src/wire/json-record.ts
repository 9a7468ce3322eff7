export type JsonRecord = Readonly<Record<string, unknown>>;

/** True for a JSON object: neither null nor an array. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads an own field only, so that an inherited value (`__proto__`, a polluted prototype) is never taken as input. */
export const ownField = (record: JsonRecord, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;
