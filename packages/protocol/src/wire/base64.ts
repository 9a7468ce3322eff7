const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

const DIGITS = encoder.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = '='.charCodeAt(0);

const VALUES = new Int8Array(128).fill(-1);
DIGITS.forEach((digit, value) => (VALUES[digit] = value));
VALUES['-'.charCodeAt(0)] = 62;
VALUES['_'.charCodeAt(0)] = 63;

/** Base64 (RFC 4648, padded) of bytes, or of a text's UTF-8 bytes; also in runtimes without `Buffer`. */
export function encodeBase64(content: string | Uint8Array): string {
  const bytes = typeof content === 'string' ? encoder.encode(content) : content;
  // As bytes, since a text that grows by single characters takes up many times its length until it is read.
  const encoded = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let written = 0;
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index;
    const block = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    encoded[written++] = DIGITS[block >> 18] ?? 0;
    encoded[written++] = DIGITS[(block >> 12) & 63] ?? 0;
    encoded[written++] = left > 1 ? (DIGITS[(block >> 6) & 63] ?? 0) : PADDING;
    encoded[written++] = left > 2 ? (DIGITS[block & 63] ?? 0) : PADDING;
  }
  return decoder.decode(encoded);
}

/** Base64url (RFC 4648, section 5, without padding) of bytes, or of a text's UTF-8 bytes. */
export function encodeBase64Url(content: string | Uint8Array): string {
  return encodeBase64(content).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/**
 * Decodes base64 to UTF-8 text; null when it is not base64 or not UTF-8. Accepts both alphabets (`+/` and `-_`), with
 * or without padding, and surrounding white space.
 */
export function decodeBase64(encoded: string): string | null {
  const digits = encoded.trim().replace(/={1,2}$/, '');
  if (digits.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let written = 0;
  let buffer = 0;
  let bits = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const value = VALUES[digits.charCodeAt(index)] ?? -1;
    if (value < 0) return null;
    buffer = ((buffer << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[written] = buffer >> bits;
      written += 1;
    }
  }
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
