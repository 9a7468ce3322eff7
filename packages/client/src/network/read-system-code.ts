/** A code such as ECONNREFUSED, which fetch puts inside an error of its own; null if there is none. */
export function readSystemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? readSystemCode(error.cause) : null;
}
