import { toBase64 } from './base64.js';
import { concatBytes } from './concat-bytes.js';

/** SHA-256 over the parts, each preceded by its length, as 43 base64url characters. */
export async function digest(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const encoder = new TextEncoder();
  const bytes = parts.flatMap((part) => {
    const encoded = typeof part === 'string' ? encoder.encode(part) : part;
    return [encoder.encode(`${encoded.length}:`), encoded];
  });
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', concatBytes(bytes)));
  return toBase64(hash).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
