/** Random bytes in hexadecimal, without a prefix; browsers do not provide `randomUUID` on plain HTTP pages. */
export function createRandomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
