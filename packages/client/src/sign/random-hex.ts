/** Random bytes in hexadecimal, without a prefix; browsers do not provide `randomUUID` on plain HTTP pages. */
export function createRandomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
