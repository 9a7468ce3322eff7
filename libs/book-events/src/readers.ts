import { isAddress, isHash, isRecord, type Hex } from '@tollgate/protocol';

/** Reads one value of an event's facts. @throws TypeError when it is not what the event's type says */
export type Reader<T> = (value: unknown) => T;

function reader<T>(what: string, accepts: (value: unknown) => value is T): Reader<T> {
  return (value) => {
    if (!accepts(value)) throw new TypeError(`not ${what}`);
    return value;
  };
}

export const words = reader('text', (value): value is string => typeof value === 'string');
export const count = reader(
  'a natural number',
  (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
);
export const decimal = reader(
  'a decimal integer',
  (value): value is string => typeof value === 'string' && /^(?:0|[1-9]\d*)$/.test(value),
);
export const address: Reader<Hex> = reader('an address', isAddress);
export const hash32: Reader<Hex> = reader('a hash', isHash);

export function oneOf<const T extends string>(...names: readonly T[]): Reader<T> {
  return reader(`one of ${names.join(', ')}`, (value): value is T => (names as readonly unknown[]).includes(value));
}

export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value) => (value === null || value === undefined ? null : read(value));
}

export function list<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new TypeError('not a list');
    return value.map(read);
  };
}

/** Reads the named fields and drops all others. */
export function object<T extends object>(fields: { readonly [Name in keyof T]-?: Reader<T[Name]> }): Reader<T> {
  const names = Object.keys(fields) as (keyof T & string)[];
  return (value) => {
    if (!isRecord(value)) throw new TypeError('not an object');
    return Object.fromEntries(names.map((name) => [name, fields[name](value[name])])) as T;
  };
}
