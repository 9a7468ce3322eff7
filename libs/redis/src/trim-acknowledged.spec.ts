import { useRedis } from '../../../test/harness/stack/borrow-redis.js';
import { trimAcknowledged } from './trim-acknowledged.js';

describe('trimAcknowledged', () => {
  const redis = useRedis();

  beforeEach(() => redis.del('stream'));

  async function add(count: number): Promise<void> {
    for (let index = 0; index < count; index++) await redis.xadd('stream', '*', 'index', index);
  }

  async function read(count: number): Promise<string[]> {
    const reply = await redis.xreadgroup('GROUP', 'book', 'one', 'COUNT', count, 'STREAMS', 'stream', '>');
    const [[, entries]] = reply as [[string, [string, string[]][]]];
    return entries.map(([id]) => id);
  }

  it('leaves a stream alone that does not exist or that no such group reads', async () => {
    expect(await trimAcknowledged(redis, 'stream', 'book')).toBe(0);
    await add(3);
    await redis.xgroup('CREATE', 'stream', 'another', '$');
    expect(await trimAcknowledged(redis, 'stream', 'book')).toBe(3);
    expect(await redis.exists('missing')).toBe(0);
  });

  it('keeps what was not delivered', async () => {
    await add(5);
    await redis.xgroup('CREATE', 'stream', 'book', '0');
    expect(await trimAcknowledged(redis, 'stream', 'book')).toBe(5);
    await redis.xack('stream', 'book', ...(await read(2)));
    expect(await trimAcknowledged(redis, 'stream', 'book')).toBe(3);
    expect(await read(10)).toHaveLength(3);
  });

  it('keeps what was delivered and not acknowledged, and all after it', async () => {
    await add(5);
    await redis.xgroup('CREATE', 'stream', 'book', '0');
    const [first, second, ...others] = await read(5);
    await redis.xack('stream', 'book', first!, ...others);
    expect(await trimAcknowledged(redis, 'stream', 'book')).toBe(4);
    expect((await redis.xrange('stream', '-', '+'))[0]?.[0]).toBe(second);
    await redis.xack('stream', 'book', second!);
    expect(await trimAcknowledged(redis, 'stream', 'book')).toBe(0);
  });
});
