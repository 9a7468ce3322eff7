import { hash } from 'node:crypto';

export type JsonTree = string | number | boolean | null | readonly JsonTree[] | { readonly [name: string]: JsonTree };

/** The JSON text of a value with its names in order and no spaces, so that equal values have equal hashes. */
export function toCanonicalJson(value: JsonTree): string {
  if (Array.isArray(value)) return `[${(value as readonly JsonTree[]).map(toCanonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${toCanonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of a text or of bytes, 64 hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}
