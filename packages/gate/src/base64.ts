/**
 * Base64 of bytes, for runtimes without `Buffer`. Encodes in parts, because each byte is an argument of `fromCharCode`.
 */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
