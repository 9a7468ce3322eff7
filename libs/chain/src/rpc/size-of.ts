/** Estimates the length in bytes of a JSON value as written; names and punctuation are approximated. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  let bytes = 2;
  for (const part of Object.values(value)) bytes += ENTRY_BYTES + sizeOf(part);
  return bytes;
}

/** For a name, its quotes, a colon and a comma. */
const ENTRY_BYTES = 16;
