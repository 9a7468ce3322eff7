import { createHmac, randomBytes } from 'node:crypto';

import { createHmacSha256 } from './hmac-sha256.js';

describe('createHmacSha256', () => {
  it.each([1, 16, 32, 63, 64, 65, 200])('agrees with node:crypto for a key of %i bytes', (keyBytes) => {
    const hmac = createHmacSha256();
    const key = randomBytes(keyBytes);
    for (const messageBytes of [0, 1, 55, 64, 200, 1024, 1025, 5000]) {
      const message = randomBytes(messageBytes);
      const expected = createHmac('sha256', key).update(message).digest('hex');
      expect(Buffer.from(hmac(key, message)).toString('hex')).toBe(expected);
    }
  });
});
