const encoder = new TextEncoder();

/**
 * HMAC-SHA-256 of texts, 32 bytes. Uses Web Crypto, which browsers provide on secure pages only.
 * @throws TypeError without a secret
 */
export async function hmacSha256(secret: string, text: string): Promise<Uint8Array> {
  // An unset variable arrives here as undefined, despite the type; encoded, it would be the empty secret.
  if (typeof secret !== 'string' || secret === '') throw new TypeError('secret is missing or not a string');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)));
}
