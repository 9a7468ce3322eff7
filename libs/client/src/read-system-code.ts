/** Such as ECONNREFUSED, which fetch hides below an error of its own; null where there is none. */
export function readSystemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? readSystemCode(error.cause) : null;
}
