const VISIBLE = /^[\x21-\x7e]{1,255}$/;
/** A string of RFC 9651, as the draft for the header has it. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * The key in an `Idempotency-Key` header, which is sent as it is or as a structured field string: `order-17` and
 * `"order-17"` are one key.
 * @returns null unless it is 1 to 255 visible ASCII characters
 */
export function parseIdempotencyKey(value: string): string | null {
  const quoted = QUOTED.exec(value)?.[1];
  if (quoted === undefined && value.startsWith('"')) return null;
  const key = quoted?.replaceAll(/\\(["\\])/g, '$1') ?? value;
  return VISIBLE.test(key) ? key : null;
}
