import { createLaneId, nameLane } from '@tollgate/journal';

import { useRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { WalletDirectory } from './wallet-directory.js';

const ONE = createLaneId(1328, `0x${'1a'.repeat(20)}`);
const OTHER = createLaneId(1328, `0x${'2b'.repeat(20)}`);

describe('the names of wallets', () => {
  const redis = useRedis();
  const directory = new WalletDirectory(redis);

  beforeEach(() => redis.flushall());

  it('keep their accounts', async () => {
    const main = { name: 'main', lane: ONE };
    expect(await directory.publish(main)).toEqual(main);
    expect(await directory.publish(main)).toEqual(main);
    expect(await directory.publish({ name: 'main', lane: OTHER })).toEqual(main);
    expect(await directory.publish({ name: 'other', lane: OTHER })).toEqual({ name: 'other', lane: OTHER });
    // The account of the name comes first.
    expect(await directory.publish({ name: 'main', lane: OTHER })).toEqual(main);
    expect(await directory.remove('main')).toBe(true);
    expect(await directory.publish({ name: 'new', lane: ONE })).toEqual({ name: 'new', lane: ONE });
  });

  it('are one for each account, however many workers start at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `wallet-${index}`);
    const published = await Promise.all(names.map((name) => directory.publish({ name, lane: ONE })));
    const listed = await directory.list();
    expect(listed).toHaveLength(1);
    for (const entry of published) expect(entry).toEqual(listed[0]);
  });

  it('are each refused where an account has two', async () => {
    const [first, second] = ['first', 'second'].map((name) => ({ name, lane: ONE }));
    await redis.hset('tollgate:{wallets}', { first: nameLane(ONE), second: nameLane(ONE) });
    expect(await directory.publish(first!)).toEqual(second);
    expect(await directory.publish(second!)).toEqual(first);
  });

  it('do not depend on the case of an address', async () => {
    const upper = { ...ONE, address: ONE.address.toUpperCase().replace('0X', '0x') as typeof ONE.address };
    await directory.publish({ name: 'main', lane: upper });
    const { name, lane } = await directory.publish({ name: 'other', lane: ONE });
    expect([name, nameLane(lane)]).toEqual(['main', nameLane(ONE)]);
  });

  // Prevents: what a worker of another release has published makes an operator's pause look as if it had failed.
  it.each(['[{"asset":"native"}]', '{}', 'limits'])('have no limits where %s was published', async (text) => {
    await redis.hset('tollgate:{wallets}:limits', 'main', text);
    expect(await directory.findLimits('main')).toBeNull();
  });
});
