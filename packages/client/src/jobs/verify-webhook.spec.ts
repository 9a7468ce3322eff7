import { createHmac } from 'node:crypto';

import { verifyWebhook, type WebhookHeaders } from './verify-webhook.js';

const SECRET = 'the secret of one target';
const NOW_MS = 1_767_323_045_000;
const EVENT = {
  id: 'j:FINAL:1',
  type: 'jobCompleted',
  jobId: 'j',
  operation: 'swap',
  wallet: 'main',
  at: '2026-01-02',
};

function deliver(event: unknown = EVENT, atMs = NOW_MS, secret = SECRET) {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(atMs / 1000));
  const signature = `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
  return { body, headers: { 'tollgate-timestamp': timestamp, 'tollgate-signature': signature } };
}

const verify = (headers: WebhookHeaders, body: string, secret = SECRET) =>
  verifyWebhook(headers, body, secret, { nowMs: NOW_MS });

describe('verifyWebhook', () => {
  it('accepts what is signed with the secret, in any form of headers', async () => {
    const { headers, body } = deliver({ ...EVENT, error: { message: 'Zu wenig 💧' } });
    expect(await verify(headers, body)).toMatchObject(EVENT);
    expect(await verify(new Headers(headers), body)).toMatchObject(EVENT);
    const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(await verify(capitals, body)).toMatchObject(EVENT);
  });

  it('refuses anything that was changed, or signed with another secret', async () => {
    const { headers, body } = deliver();
    const wrong = { code: 'signature_wrong' };
    await expect(verify(headers, body.replace('main', 'mine'))).rejects.toMatchObject(wrong);
    await expect(verify(headers, body, 'another secret')).rejects.toMatchObject(wrong);
    await expect(verify(deliver(EVENT, NOW_MS, 'another secret').headers, body)).rejects.toMatchObject(wrong);
    const later = { ...headers, 'tollgate-timestamp': String(NOW_MS / 1000 + 1) };
    await expect(verify(later, body)).rejects.toMatchObject(wrong);
    for (const signature of ['', 'v1=', 'v1=zz', headers['tollgate-signature'].toUpperCase()]) {
      await expect(verify({ ...headers, 'tollgate-signature': signature }, body)).rejects.toMatchObject(wrong);
    }
  });

  it.each([-300_001, 301_000])('refuses a timestamp %i ms from now', async (offMs) => {
    const { headers, body } = deliver(EVENT, NOW_MS + offMs);
    await expect(verify(headers, body)).rejects.toMatchObject({ code: 'timestamp_wrong' });
  });

  it.each(['soon', '', '-1', '1e9', '9'.repeat(30)])('refuses the timestamp %j', async (timestamp) => {
    const { headers, body } = deliver();
    const changed = { ...headers, 'tollgate-timestamp': timestamp };
    await expect(verify(changed, body)).rejects.toMatchObject({ code: 'timestamp_wrong' });
  });

  it('requires both headers, once each', async () => {
    const { headers, body } = deliver();
    const missing = { code: 'header_missing' };
    await expect(verify({}, body)).rejects.toMatchObject(missing);
    const twice = [headers['tollgate-signature'], 'v1=00'];
    await expect(verify({ ...headers, 'tollgate-signature': twice }, body)).rejects.toMatchObject(missing);
  });

  it.each([null, [], { ...EVENT, type: 'later' }, { ...EVENT, jobId: 7 }])('reads no event from %j', async (event) => {
    const { headers, body } = deliver(event);
    await expect(verify(headers, body)).rejects.toMatchObject({ code: 'event_unreadable' });
  });
});
