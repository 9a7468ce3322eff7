import { randomFillSync } from 'node:crypto';

const NONCE_BYTES = 16;
const NONCES = 512;

/** Random nonces of 16 bytes, drawn from the system many at a time. Each nonce is valid until the next call. */
export function createNoncePool(): () => Uint8Array {
  const pool = Buffer.allocUnsafeSlow(NONCES * NONCE_BYTES);
  const nonces = Array.from({ length: NONCES }, (_, at) => pool.subarray(at * NONCE_BYTES, (at + 1) * NONCE_BYTES));
  let next = NONCES;
  return () => {
    if (next === NONCES) {
      randomFillSync(pool);
      next = 0;
    }
    return nonces[next++] ?? pool.subarray(0, NONCE_BYTES);
  };
}
