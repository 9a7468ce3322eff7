import { Logger } from '@nestjs/common';
import { connectRedis } from '@tollgate/redis';
import { Redis } from 'ioredis';

import { BookkeeperFixture } from '../../apps/bookkeeper/test/bookkeeper-fixture.js';
import { answered, deliver, transferId } from '../../libs/book/test/sample-events.js';
import { waitFor } from '../harness/retry.js';
import { CLUSTER_PASSWORD, startCluster, type StartedCluster } from './start-cluster.js';

/** More than the outbox has in this test. */
const STREAMS = 40;
const ROUNDS = 8;
const PAUSE_MS = 500;

describe('a bookkeeper on a cluster', () => {
  let cluster: StartedCluster;
  let fixture: BookkeeperFixture;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    cluster = await startCluster();
    fixture = await BookkeeperFixture.start();
  });

  afterAll(async () => {
    await fixture.stop();
    await cluster.stop();
  });

  /** How often its streams were read. */
  async function countReads(): Promise<number> {
    const counts = cluster.primaries.map(async ({ port }) => {
      const redis = new Redis({ port, password: CLUSTER_PASSWORD });
      const [, calls = '0'] = /cmdstat_xreadgroup:calls=(\d+)/.exec(await redis.info('commandstats')) ?? [];
      redis.disconnect();
      return Number(calls);
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  it('books what is reported, and pauses between its reads while there is nothing', async () => {
    const { url } = await fixture.startBookkeeper({ REDIS_URL: cluster.url });
    const redis = connectRedis({ url: cluster.url, role: 'test', logger: { log() {}, warn() {}, error() {} } });
    const { stream, fields } = deliver(answered(transferId(1)));
    await redis.xadd(stream, '*', ...fields);
    redis.disconnect();
    const hasBooked = async () =>
      /^tollgate_book_bookings_total\S* 1$/m.test(await (await fetch(`${url}/metrics`)).text());
    await waitFor('the event is booked', hasBooked);

    const [beganAtMs, before] = [performance.now(), await countReads()];
    await waitFor('it has read again', async () => (await countReads()) > before + ROUNDS * STREAMS);
    // Some of these reads were of the first round, and of what a bookkeeper before may have left.
    expect(performance.now() - beganAtMs).toBeGreaterThan((ROUNDS - 3) * PAUSE_MS);
  });
});
