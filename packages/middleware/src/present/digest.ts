import { encodeBase64Url } from '@tollgate/protocol';

/** SHA-256 over the parts, each preceded by its length, as 43 base64url characters. */
export async function digest(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const encoder = new TextEncoder();
  const bytes = parts.flatMap((part) => {
    const encoded = typeof part === 'string' ? encoder.encode(part) : part;
    return [encoder.encode(`${encoded.length}:`), encoded];
  });
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', concatBytes(bytes))));
}

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
