import { cleanUntrusted } from '../types/untrusted-text.js';

export type SafeJson = string | number | boolean | null | SafeJson[] | { [key: string]: SafeJson };
export type JsonObject = Record<string, SafeJson>;

/** The most that one result takes of a model's context, in characters of JSON. */
export const MAX_RESULT_LENGTH = 16_000;

interface Bounds {
  /** The most items of a list. */
  items: number;
  textLength: number;
}

// From generous to tight; the last still fits hashes and addresses. The first with which the result fits is used.
const BOUNDS: readonly Bounds[] = [
  { items: 200, textLength: 4_000 },
  { items: 50, textLength: 500 },
  { items: 20, textLength: 160 },
  { items: 5, textLength: 80 },
];
const MAX_FIELDS = 40;
const MAX_DEPTH = 8;

/**
 * A result as JSON for a model: bigint amounts as digits, every text on one line without control characters, and at
 * most `MAX_RESULT_LENGTH` characters in total. `truncated` reports whether something was left out.
 */
export function toSafeJson(value: object): JsonObject {
  for (const bounds of BOUNDS) {
    const result = copyWithin(value, bounds);
    if (JSON.stringify(result).length <= MAX_RESULT_LENGTH) return result;
  }
  const scalars = Object.entries(value).filter(([, field]) => typeof field !== 'object');
  return { ...copyWithin(Object.fromEntries(scalars), { items: 0, textLength: 80 }), truncated: true };
}

function copyWithin(value: object, bounds: Bounds): JsonObject {
  let isTruncated = false;
  const cut = <Item>(list: readonly Item[], length: number) => {
    if (list.length > length) isTruncated = true;
    return list.slice(0, length);
  };
  const copy = (item: unknown, depth: number): SafeJson | undefined => {
    switch (typeof item) {
      case 'string':
        if (item.length > bounds.textLength) isTruncated = true;
        return cleanUntrusted(item, bounds.textLength);
      case 'number':
        return Number.isFinite(item) ? item : String(item);
      case 'boolean':
        return item;
      case 'bigint':
        return item.toString();
      case 'object':
        if (item === null) return null;
        if (item instanceof Date) return item.toJSON();
        if (depth === MAX_DEPTH) {
          isTruncated = true;
          return null;
        }
        if (!Array.isArray(item)) return copyFields(item, depth + 1);
        return cut<unknown>(item, bounds.items).map((element) => copy(element, depth + 1) ?? null);
      default:
        // JSON cannot represent undefined, functions and symbols.
        return undefined;
    }
  };
  const copyFields = (fields: object, depth: number): JsonObject => {
    const entries = cut<[string, unknown]>(Object.entries(fields), MAX_FIELDS);
    const copied = entries.map(([name, field]) => [cleanUntrusted(name, 64), copy(field, depth)]);
    // Object.fromEntries defines even `__proto__` as an own field.
    return Object.fromEntries(copied.filter(([, field]) => field !== undefined)) as JsonObject;
  };
  const result = copyFields(value, 0);
  return isTruncated ? { ...result, truncated: true } : result;
}
