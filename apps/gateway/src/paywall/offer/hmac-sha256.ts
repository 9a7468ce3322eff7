import { createHash, hash } from 'node:crypto';

import type { HmacSha256 } from '@tollgate/protocol';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const MESSAGE_BYTES = 1024;

interface Pads {
  /** The key's inner pad, followed by room for the message. */
  readonly inner: Buffer;
  /** The key's outer pad, followed by room for the inner digest. */
  readonly outer: Buffer;
}

/**
 * HMAC-SHA-256 (RFC 2104) for few keys and many short messages: the pads of a key are computed once and both hashes are
 * one-shot, which takes a third of the time of `createHmac`. The result is valid until the next call.
 */
export function createHmacSha256(): HmacSha256 {
  const padsByKey = new WeakMap<Uint8Array, Pads>();
  const result = Buffer.alloc(DIGEST_BYTES);
  return (key, message) => {
    let pads = padsByKey.get(key);
    if (pads === undefined) padsByKey.set(key, (pads = createPads(key)));
    let { inner } = pads;
    if (message.length > MESSAGE_BYTES) inner = Buffer.concat([inner.subarray(0, BLOCK_BYTES), message]);
    else inner.set(message, BLOCK_BYTES);
    // Digests are Latin-1 text: allocating a Buffer for each, outside the heap, takes longer than the hash itself.
    const digest = hash('sha256', inner.subarray(0, BLOCK_BYTES + message.length), 'binary');
    pads.outer.write(digest, BLOCK_BYTES, 'latin1');
    result.write(hash('sha256', pads.outer, 'binary'), 'latin1');
    return result;
  };
}

function createPads(key: Uint8Array): Pads {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? createHash('sha256').update(key).digest() : key);
  const inner = Buffer.alloc(BLOCK_BYTES + MESSAGE_BYTES);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
  for (let at = 0; at < BLOCK_BYTES; at += 1) {
    inner[at] = (block[at] ?? 0) ^ 0x36;
    outer[at] = (block[at] ?? 0) ^ 0x5c;
  }
  return { inner, outer };
}
