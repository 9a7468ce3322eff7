import { Logger } from '@nestjs/common';
import { removeRequests, type OutgoingEvent } from '@tollgate/book';
import { verifyWebhookSignature } from '@tollgate/client/jobs';
import { ApiKeyStore } from '@tollgate/http';
import type { Trouble } from '@tollgate/operator-api';
import { Redis } from 'ioredis';

import {
  answered,
  authorizationId,
  deliver,
  hashOf,
  refunded,
  refunding,
  refused,
  released,
  settled,
  transferId,
} from '../../../../libs/book/test/sample-events.js';
import { startTarget, type WebhookReceiver } from '../../../../test/harness/payments/start-target.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';
import { readEventStream } from '../../test/read-event-stream.js';
import { BookHolder } from '../book/book-holder.js';
import { PaymentWebhooks } from './payment-webhooks.js';

const KEYS = 'tollgate:{api-keys}';
const QUICK = {
  ALLOW_PRIVATE_TARGETS: 'true',
  WEBHOOK_ATTEMPTS: '3',
  WEBHOOK_FIRST_RETRY_MS: '20',
  WEBHOOK_LONGEST_RETRY_MS: '100',
};

describe('events of payments', () => {
  let fixture: BookkeeperFixture;
  let bookkeeper: StartedBookkeeper;
  /** Whether a test has ended the bookkeeper that the tests share. */
  let isEnded = false;
  let token: string;
  let receivers: WebhookReceiver[] = [];
  let next = 1;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
    bookkeeper = await fixture.startBookkeeper(QUICK);
  });

  beforeEach(async () => {
    if (isEnded) {
      await fixture.endBookkeepers();
      bookkeeper = await fixture.startBookkeeper(QUICK);
    }
    isEnded = false;
    token = await fixture.createToken('operator:read');
  });

  afterEach(async () => {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    receivers = [];
  });

  afterAll(() => fixture.stop());

  async function endBookkeeper(): Promise<void> {
    isEnded = true;
    await fixture.endBookkeepers();
  }

  function ask(path: string, method = 'GET', body?: object, bearer = token): Promise<Response> {
    return fetch(`${bookkeeper.url}/operator${path}`, {
      method,
      headers: { Authorization: `Bearer ${bearer}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  async function register(events: string[] = []): Promise<{ receiver: WebhookReceiver; id: string; secret: string }> {
    const receiver = await startTarget();
    receivers.push(receiver);
    const answer = await ask('/webhooks', 'POST', { url: receiver.url, events });
    expect(answer.status).toBe(201);
    return { receiver, ...((await answer.json()) as { id: string; secret: string }) };
  }

  const report = (...events: Parameters<typeof deliver>[0][]) =>
    Promise.all(events.map((event) => fixture.report(deliver(event))));
  const idsAt = ({ posts }: WebhookReceiver) => posts.map(({ headers }) => String(headers['tollgate-event-id']));
  const newId = (): string => transferId(100 + next++);

  it('are posted, signed, once for each change of a payment', async () => {
    const { receiver, secret } = await register();
    const [sold, late, failed, signed] = [newId(), newId(), newId(), authorizationId(next++)];
    const release = released(failed);
    await report(refused(late), refused(late, { count: 2 }), release, settled([signed]));
    await waitFor('the first are posted', () => receiver.posts.length === 3);
    const refund = refunded(late, '4000');
    await fixture.askForRefunds(refund);
    await report(answered(sold), answered(sold), refunding(late), refund);
    await waitFor('all are posted', () => receiver.posts.length === 5);
    const ids = [
      `payment.answered:${sold}`,
      `payment.refused:${late}:payment_too_old`,
      `payment.released:${failed}:${release.atMs}`,
      `payment.settled:${signed}`,
      `payment.refunded:${late}:${hashOf(900)}`,
    ];
    expect(idsAt(receiver).sort()).toEqual(ids.sort());
    const post = receiver.posts.find(({ body }) => body.includes('payment.refunded'));
    expect(JSON.parse(post!.body)).toMatchObject({
      version: 1,
      type: 'payment.refunded',
      payment: { id: late, state: 'refunded', amount: '10000', refunded: '4000' },
      refund: { refund: `refund-1 of ${late}`, amount: '4000', transaction: hashOf(900) },
    });
    await verifyWebhookSignature(post!.headers, post!.body, secret);
    await expect(verifyWebhookSignature(post!.headers, post!.body, `${secret}x`)).rejects.toThrow('signature');
  });

  it('reach each target with the types that it wants, from its registration on', async () => {
    const before = newId();
    await report(answered(before));
    await waitFor('it is in the book', async () => (await ask(`/payments/${before}`)).status === 200);
    const refusals = await register(['payment.refused']);
    const all = await register();
    const [sold, late] = [newId(), newId()];
    await report(answered(sold), refused(late));
    await waitFor('all are posted', () => all.receiver.posts.length === 2 && refusals.receiver.posts.length === 1);
    expect(idsAt(refusals.receiver)).toEqual([`payment.refused:${late}:payment_too_old`]);
    expect(idsAt(all.receiver).sort()).toEqual([`payment.answered:${sold}`, `payment.refused:${late}:payment_too_old`]);
  });

  it('are posted by the next bookkeeper, with the same id and body', async () => {
    const { receiver } = await register();
    receiver.answerWith(500);
    await report(answered(newId()));
    await waitFor('it was tried', () => receiver.posts.length >= 1);
    await endBookkeeper();
    const tried = receiver.posts.length;
    receiver.answerWith(204);
    bookkeeper = await fixture.startBookkeeper({ ...QUICK, WEBHOOK_ATTEMPTS: '20' });
    await waitFor('it is delivered', () => receiver.posts.length > tried);
    expect(new Set(receiver.posts.map(({ body }) => body)).size).toBe(1);
  });

  it('are added again where Redis has lost how far the book was followed, with what waited', async () => {
    const { receiver } = await register();
    const keys = await fixture.redis.keys('tollgate:{webhooks}:payments:*');
    const copied = await Promise.all(keys.map(async (key) => [key, await fixture.redis.dumpBuffer(key)] as const));
    receiver.answerWith(500);
    await report(answered(newId()));
    await waitFor('it was tried', () => receiver.posts.length >= 1);
    await endBookkeeper();
    await fixture.redis.del(await fixture.redis.keys('tollgate:{webhooks}:payments:*'));
    for (const [key, value] of copied) {
      // Another test's target may just have lost what waited for it.
      if (value !== null) await fixture.redis.restore(key, 0, value);
    }
    const tried = receiver.posts.length;
    receiver.answerWith(204);
    bookkeeper = await fixture.startBookkeeper(QUICK);
    await waitFor('it is delivered', () => receiver.posts.length > tried);
    expect(new Set(receiver.posts.map(({ body }) => body)).size).toBe(1);
  });

  it('are dead letters after the last attempt, which can be sent again', async () => {
    const { receiver, id } = await register();
    receiver.answerWith(500);
    const sold = newId();
    await report(answered(sold));
    const readDead = async () =>
      ((await (await ask('/webhooks/dead-letters')).json()) as { deadLetters: { event: OutgoingEvent }[] }).deadLetters;
    await waitFor('it is given up', async () => (await readDead()).length === 1);
    expect(await readDead()).toMatchObject([
      { webhookId: id, attempts: 3, reason: 'The target answered 500.', event: { id: `payment.answered:${sold}` } },
    ]);
    receiver.answerWith(410);
    expect(await (await ask(`/webhooks/${id}/resend`, 'POST')).json()).toEqual({ resent: 1 });
    await waitFor('it is disabled', async () => (await listWebhooks())[0]?.disabled === 'gone');
    expect(await readDead()).toEqual([]);
    expect(await (await ask(`/webhooks/${id}/resend`, 'POST')).json()).toEqual({ resent: 0 });
  });

  it('name a target whose API key Redis has lost, and wait for it', async () => {
    const { id } = await register();
    await fixture.redis.hdel(KEYS, token.split('_')[1]!);
    token = await fixture.createToken('operator:read');
    await report(answered(newId()));
    const readTroubles = async () => {
      const { troubles } = (await (await ask('/health')).json()) as { troubles: Trouble[] };
      return troubles.filter(({ about }) => about === 'webhooks');
    };
    await waitFor('it waits', async () => (await readTroubles())[0]?.what.includes('waiting: 1') === true);
    expect(await readTroubles()).toEqual([
      { about: 'webhooks', what: expect.stringContaining(id), mend: expect.stringContaining(`remove ${id}`) },
    ]);
    expect((await ask(`/webhooks/${id}`, 'DELETE')).status).toBe(204);
    expect(await readTroubles()).toEqual([]);
  });

  it('are dropped for a target of a lost API key that another one removes', async () => {
    const { id } = await register();
    await fixture.redis.hdel(KEYS, token.split('_')[1]!);
    token = await fixture.createToken('operator:read');
    expect((await ask(`/webhooks/${id}/enable`, 'POST')).status).toBe(404);
    expect((await ask(`/webhooks/${id}`, 'DELETE')).status).toBe(204);
    expect((await ask(`/webhooks/${id}`, 'DELETE')).status).toBe(404);
  });

  it('are kept for a target of another API key that Redis has, also of a revoked one', async () => {
    const { id } = await register();
    const keyId = token.split('_')[1]!;
    token = await fixture.createToken('operator:read');
    expect((await ask(`/webhooks/${id}`, 'DELETE')).status).toBe(404);
    await new ApiKeyStore(fixture.redis).revoke(keyId);
    expect((await ask(`/webhooks/${id}`, 'DELETE')).status).toBe(404);
    const { targets } = bookkeeper.app.get(PaymentWebhooks).webhooks;
    expect(await targets.find({ keyId, id })).toMatchObject({ id });
  });

  it('do not reach private addresses unless that is allowed', async () => {
    await endBookkeeper();
    bookkeeper = await fixture.startBookkeeper();
    const answer = await ask('/webhooks', 'POST', { url: 'https://127.0.0.1/hook' });
    expect(await answer.json()).toMatchObject({ status: 422, code: 'webhook_target_refused' });
  });

  it('belong to a key: others do not see its targets', async () => {
    const { id } = await register();
    const other = await fixture.createToken('operator:read');
    expect(await (await ask('/webhooks', 'GET', undefined, other)).json()).toEqual({ webhooks: [] });
    expect((await ask(`/webhooks/${id}`, 'DELETE', undefined, other)).status).toBe(404);
    expect((await ask('/webhooks', 'POST', { url: 'https://example.com', colour: 'red' })).status).toBe(400);
  });

  it('are streamed, and a client that comes back gets what it missed, once', async () => {
    const first = await readEventStream(`${bookkeeper.url}/operator/events`, token);
    const [one, two, three] = [newId(), newId(), newId()];
    await report(answered(one));
    await waitFor('the first came', () => first.events.length === 1);
    first.close();
    await report(answered(two), refused(three));
    const rest = await readEventStream(`${bookkeeper.url}/operator/events`, token, first.lastEventId());
    await waitFor('the others came', () => rest.events.length === 2);
    rest.close();
    expect([...first.events, ...rest.events].map(({ payment }) => payment?.id).sort()).toEqual(
      [one, two, three].sort(),
    );
    const byEvent = await readEventStream(`${bookkeeper.url}/operator/events`, token, first.events[0]!.id);
    await waitFor('the others came again', () => byEvent.events.length === 2);
    byEvent.close();
    const typed = await readEventStream(
      `${bookkeeper.url}/operator/events?type=payment.refused`,
      token,
      first.lastEventId(),
    );
    await waitFor('the refusal came', () => typed.events.some(({ payment }) => payment?.id === three));
    typed.close();
    expect(new Set(typed.events.map(({ type }) => type))).toEqual(new Set(['payment.refused']));
  });

  it('are streamed again to a client that knows more than a restored book', async () => {
    const stream = await readEventStream(`${bookkeeper.url}/operator/events`, token, 'e-999999999');
    const id = newId();
    await report(answered(id));
    await waitFor('it came', () => stream.events.some(({ payment }) => payment?.id === id));
    stream.close();
  });

  it.each(['is new', 'comes back'])(
    'are streamed to a client that %s, when all before were removed',
    async (client) => {
      const earlier = await readEventStream(`${bookkeeper.url}/operator/events`, token);
      await report(answered(newId()));
      await waitFor('it came', () => earlier.events.length === 1);
      earlier.close();
      await removeRequests(bookkeeper.app.get(BookHolder).writer, Date.UTC(2100, 0));
      const lastEventId = client === 'is new' ? undefined : earlier.lastEventId();
      const stream = await readEventStream(`${bookkeeper.url}/operator/events`, token, lastEventId);
      const id = newId();
      await report(answered(id));
      await waitFor('it came', () => stream.events.some(({ payment }) => payment?.id === id));
      stream.close();
      // Nothing was missed before it.
      expect(stream.events).toHaveLength(1);
    },
  );

  it('are shared out: a key has some streams of all, and gets another for one that ends', async () => {
    const url = `${bookkeeper.url}/operator/events`;
    const streams = await Promise.all(Array.from({ length: 10 }, () => readEventStream(url, token)));
    await expect(readEventStream(url, token)).rejects.toThrow('too_many_streams');
    streams.push(await readEventStream(url, await fixture.createToken('operator:read')));
    streams[0]!.close();
    await waitFor('there is room for one', async () => {
      const stream = await readEventStream(url, token).catch(() => null);
      if (stream !== null) streams.push(stream);
      return stream !== null;
    });
    for (const stream of streams) stream.close();
  });

  it.each([['nonsense'], ['payment.answered:unknown']])('are not streamed after %s', async (lastEventId) => {
    const response = await fetch(`${bookkeeper.url}/operator/events`, {
      headers: { Authorization: `Bearer ${token}`, 'Last-Event-ID': lastEventId },
    });
    expect(await response.json()).toMatchObject({ status: 400, code: 'request_invalid' });
  });

  it('are published to Nest services', async () => {
    const subscriber = new Redis(fixture.server.url);
    const heard: { pattern: string; data: OutgoingEvent }[] = [];
    await subscriber.subscribe('payment.answered');
    subscriber.on('message', (_, text) => heard.push(JSON.parse(text) as (typeof heard)[number]));
    const id = newId();
    await report(answered(id));
    await waitFor('it is published', () => heard.some(({ data }) => data.id === `payment.answered:${id}`));
    expect(heard.at(-1)).toMatchObject({ pattern: 'payment.answered', data: { version: 1, payment: { id } } });
    subscriber.disconnect();
  });

  it('report a closing', async () => {
    const { receiver } = await register(['book.closed']);
    await report(answered(newId()));
    const approver = await fixture.createToken('operator:approve');
    await waitFor('something is closed', async () => {
      const { closings } = (await (await ask('/closings', 'POST', undefined, approver)).json()) as {
        closings: unknown[];
      };
      return closings.length > 0;
    });
    await waitFor('it is posted', () => receiver.posts.length === 1);
    const event = JSON.parse(receiver.posts[0]!.body) as OutgoingEvent;
    expect(event).toMatchObject({ type: 'book.closed', id: `book.closed:${event.closing!.hash}` });
  });

  async function listWebhooks(): Promise<{ waiting: number; disabled: string | null }[]> {
    return ((await (await ask('/webhooks')).json()) as { webhooks: { waiting: number; disabled: string | null }[] })
      .webhooks;
  }
});
