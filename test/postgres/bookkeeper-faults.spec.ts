import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import type { BookVerdict } from '@tollgate/book';

import { BookkeeperFixture } from '../../apps/bookkeeper/test/bookkeeper-fixture.js';
import { answered, deliver, transferId } from '../../libs/book/test/sample-events.js';
import { startPostgres, type PostgresServer } from '../../tools/devnet/processes/postgres.js';
import { waitFor } from '../harness/retry.js';

/** Bookings before each kill, so that it comes in the middle of the work. */
const BOOKED_BEFORE = 100;

describe('a bookkeeper whose PostgreSQL server', () => {
  let server: PostgresServer;
  let fixture: BookkeeperFixture;
  let token: string;
  let url: string;
  /** Events that were reported. */
  let reported = 0;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    [server, fixture] = await Promise.all([startPostgres(), BookkeeperFixture.start()]);
    token = await fixture.createToken('operator:read');
  });

  afterAll(async () => {
    await fixture.stop();
    await server.stop();
  });

  const start = async (): Promise<void> => {
    ({ url } = await fixture.startBookkeeper({ BOOK_DATABASE_URL: server.url }));
  };
  const ask = (path: string): Promise<Response> =>
    fetch(`${url}/operator/${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const isReady = async (): Promise<boolean> => (await fetch(`${url}/health/ready`)).status === 200;
  const countBookings = async (): Promise<number> => {
    const response = await ask('health');
    return response.status === 200 ? ((await response.json()) as { lastBooking: number }).lastBooking : 0;
  };
  const report = async (): Promise<void> => fixture.report(deliver(answered(transferId(++reported))));

  async function expectAllBookedOnce(): Promise<void> {
    await waitFor('all that was reported is booked', async () => (await countBookings()) >= reported);
    const verdict = (await (await ask('verification')).json()) as BookVerdict;
    expect(verdict).toMatchObject({ broken: null, bookings: reported });
    const { balances } = (await (await ask('balances')).json()) as { balances: { amount: string }[] };
    expect(balances.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(0n);
    const { stream } = deliver(answered(transferId(1)));
    await waitFor('nothing is left to acknowledge', async () => {
      const [pending] = (await fixture.redis.xpending(stream, 'book')) as [number];
      return pending === 0;
    });
  }

  it('is down when it starts books what waited once the server is up, and says until then what it waits for', async () => {
    await server.kill();
    await report();
    await start();
    expect(await isReady()).toBe(false);
    const refused = await ask('balances');
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'book_unavailable' });
    await server.start();
    await waitFor('it is ready', isReady);
    await expectAllBookedOnce();
  });

  it('is killed and started again under load books every event once', async () => {
    const load = { isOver: false };
    const reporting = (async () => {
      while (!load.isOver) {
        await report();
        await sleep(1);
      }
    })();
    for (let kill = 0; kill < 3; kill++) {
      const before = await countBookings();
      await waitFor('it books', async () => (await countBookings()) >= before + BOOKED_BEFORE);
      await server.kill();
      await waitFor('it is not ready', async () => !(await isReady()));
      await server.start();
      await waitFor('it is ready again', isReady);
    }
    load.isOver = true;
    await reporting;
    await expectAllBookedOnce();
  });
});
