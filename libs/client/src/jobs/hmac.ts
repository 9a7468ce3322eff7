const encoder = new TextEncoder();

/**
 * HMAC-SHA-256 of texts, 32 bytes. Web Crypto, which browsers have on secure pages only.
 * @throws TypeError without a secret
 */
export async function hmacSha256(secret: string, text: string): Promise<Uint8Array> {
  // A variable that is not set comes here as undefined, whatever its type says: encoded, it would be the empty secret.
  if (typeof secret !== 'string' || secret === '') throw new TypeError('secret is missing, or no text');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)));
}
