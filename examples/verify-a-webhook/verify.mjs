import { createHmac, timingSafeEqual } from 'node:crypto';

export function isFromTollgate(headers, body, secret) {
  const timestamp = headers['tollgate-timestamp'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const expected = `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
  const [given, right] = [headers['tollgate-signature'] ?? '', expected].map((text) => Buffer.from(text));
  return given.length === right.length && timingSafeEqual(given, right);
}
