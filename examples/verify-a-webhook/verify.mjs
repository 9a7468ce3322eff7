import { createHmac, timingSafeEqual } from 'node:crypto';

export function isFromTollgate(headers, body, secret) {
  const timestamp = headers['tollgate-timestamp'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const expected = `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
  const given = headers['tollgate-signature'] ?? '';
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
