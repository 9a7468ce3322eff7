import { randomBytes } from 'node:crypto';

import { Logger } from '@nestjs/common';
import { ConfigurationError } from '@tollgate/config';
import { RESTORE_MARKER } from '@tollgate/redis';

import { answered, deliver, transferId } from '../../../libs/book/test/sample-events.js';
import { closeWhileBusy } from '../../../test/harness/network/close-while-busy.js';
import { waitFor } from '../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../test/bookkeeper-fixture.js';
import { startBookkeeper } from './start-bookkeeper.js';

describe('the bookkeeper', () => {
  let fixture: BookkeeperFixture;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
  });

  afterEach(() => fixture.endBookkeepers());

  afterAll(() => fixture.stop());

  const isReady = async ({ url }: StartedBookkeeper): Promise<boolean> =>
    (await fetch(`${url}/health/ready`)).status === 200;

  async function countBookings({ url }: StartedBookkeeper, token: string): Promise<number> {
    const response = await fetch(`${url}/operator/health`, { headers: { Authorization: `Bearer ${token}` } });
    return ((await response.json()) as { lastBooking: number }).lastBooking;
  }

  it.each([
    ['BOOK_SIGNING_KEY', { BOOK_SIGNING_KEY: 'ca'.repeat(20) }],
    ['BOOK_SIGNING_KEY', { BOOK_SIGNING_KEY: 'ff'.repeat(16) + 'fedcba9876543210'.repeat(2) }],
    ['BOOK_SIGNING_KEY', { BOOK_SIGNING_KEY: `0x${'22'.repeat(32)}` }],
    // The first account of anvil and Hardhat.
    ['BOOK_SIGNING_KEY', { BOOK_SIGNING_KEY: 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80' }],
    ['BOOK_FORMER_SIGNERS', { BOOK_FORMER_SIGNERS: `0x${'11'.repeat(20)},me` }],
    ['BOOK_DATABASE_URL', { BOOK_DATABASE_URL: 'mysql://canary@db' }],
    ['BOOK_DATABASE_URL', { BOOK_DATABASE_URL: 'postgres://user:canary#word@db/book' }],
    ['BOOK_BATCH', { BOOK_BATCH: '0' }],
    ['PAY_TO', { PAY_TO: 'me' }],
  ])('does not start with a wrong %s, and says so', async (name, env) => {
    const refused = startBookkeeper(fixture.environment(env));
    await expect(refused).rejects.toThrow(name);
    await expect(refused).rejects.toBeInstanceOf(ConfigurationError);
    await expect(refused).rejects.not.toThrow(/canary|cacaca/);
  });

  it('does not start on a Redis that evicts keys, or whose restore is unfinished', async () => {
    const { redis } = fixture;
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(fixture.startBookkeeper()).rejects.toThrow(/REDIS_URL: .*maxmemory-policy/);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.set(RESTORE_MARKER, 'a copy');
    await expect(fixture.startBookkeeper()).rejects.toThrow(/REDIS_URL: .*restore/);
    await redis.del(RESTORE_MARKER);
  });

  it('answers the requests under way when it is closed, and waits for no connection after them', async () => {
    const { url, close } = await fixture.startBookkeeper();
    expect(await closeWhileBusy(url, close)).toContain('HTTP/1.1 404');
  });

  it('hands the book over to a second one that waits, events in flight included', async () => {
    const token = await fixture.createToken('operator:read');
    const first = await fixture.startBookkeeper();
    const second = await fixture.startBookkeeper();
    await waitFor('the first one is ready', () => isReady(first));
    expect(await isReady(second)).toBe(false);
    const waiting = await fetch(`${second.url}/operator/health`, { headers: { Authorization: `Bearer ${token}` } });
    expect(await waiting.json()).toMatchObject({ status: 503, code: 'book_unavailable' });

    await fixture.report(deliver(answered(transferId(1))));
    await waitFor('it is booked', async () => (await countBookings(first, token)) === 1);
    // Delivered to a bookkeeper that ends before it writes them.
    const event = deliver(answered(transferId(2)));
    await first.close();
    await fixture.report(event);
    await fixture.redis.xreadgroup('GROUP', 'book', 'bookkeeper', 'STREAMS', event.stream, '>');

    await waitFor('the second one is ready', () => isReady(second));
    await waitFor('the event in flight is booked', async () => (await countBookings(second, token)) === 2);
    expect(await fixture.redis.xpending(event.stream, 'book')).toEqual([0, null, null, null]);
  });

  it('accepts closings of a former key that it is told of, and of no other', async () => {
    const headers = { Authorization: `Bearer ${await fixture.createToken('operator:read', 'operator:approve')}` };
    const first = await fixture.startBookkeeper();
    await waitFor('the first one is ready', () => isReady(first));
    await fixture.report(deliver(answered(transferId(4))));
    await waitFor('its day is closed', async () => {
      const response = await fetch(`${first.url}/operator/closings`, { method: 'POST', headers });
      return ((await response.json()) as { closings: unknown[] }).closings.length > 0;
    });
    const health = await fetch(`${first.url}/operator/health`, { headers });
    const { closingKey } = (await health.json()) as { closingKey: string };
    const verifyWith = async (former: string) => {
      await fixture.endBookkeepers();
      const env = { BOOK_SIGNING_KEY: randomBytes(32).toString('hex'), BOOK_FORMER_SIGNERS: former };
      const { url } = await fixture.startBookkeeper(env);
      const response = await fetch(`${url}/operator/verification`, { headers });
      return (await response.json()) as { closings: number; broken: string | null };
    };
    const broken = `Closing 1: it was signed by ${closingKey}, which is not a key of this book.`;
    expect(await verifyWith('')).toMatchObject({ closings: 0, broken });
    const listed = closingKey.toUpperCase().replace('X', 'x');
    expect(await verifyWith(listed)).toMatchObject({ closings: 1, broken: null });
  });

  it('goes on after Redis was killed, and after it came back without its data', async () => {
    const token = await fixture.createToken('operator:read');
    const bookkeeper = await fixture.startBookkeeper();
    await waitFor('it is ready', () => isReady(bookkeeper));
    const before = await countBookings(bookkeeper, token);
    await fixture.server.kill();
    await waitFor('it is not ready', async () => !(await isReady(bookkeeper)));
    await fixture.server.start();
    await fixture.redis.flushall();
    const again = await fixture.createToken('operator:read');
    await fixture.report(deliver(answered(transferId(3))));
    await waitFor('the event is booked', async () => (await countBookings(bookkeeper, again)) === before + 1);
  });
});
