import { once } from 'node:events';

import { Redis } from 'ioredis';

import { waitFor } from '../../../../test/harness/retry.js';
import { borrowRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { OutboxStreams } from './outbox-streams.js';

// Prevents: the wait of another client is ended, which has the number of a connection that was lost.
it('ends no wait by the number of a connection that was lost', async () => {
  const server = await borrowRedis();
  const [outbox, commands] = [new Redis(server.url), new Redis(server.url)];
  const streams = new OutboxStreams(outbox, commands, 10);
  await streams.find();
  const read = streams.readNew(() => false);
  await waitFor('it waits', async () => (await commands.info('clients')).includes('blocked_clients:1'));
  const client = jest.spyOn(commands, 'client');
  const lost = once(outbox, 'close');
  outbox.disconnect(true);
  await lost;
  streams.wake();
  expect(client).not.toHaveBeenCalled();
  expect(await read).toEqual([]);
  for (const redis of [outbox, commands]) redis.disconnect();
  await server.stop();
});
