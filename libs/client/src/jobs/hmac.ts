const encoder = new TextEncoder();

/** HMAC-SHA-256 of texts, 32 bytes. Web Crypto, which browsers have on secure pages only. */
export async function hmacSha256(secret: string, text: string): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)));
}
