import { existsSync } from 'node:fs';

import { Redis } from 'ioredis';

import { startRedis } from './redis.js';

describe('startRedis', () => {
  it('keeps acknowledged writes over a SIGKILL, on the same port', async () => {
    const server = await startRedis();
    const redis = new Redis(server.url, { lazyConnect: true, retryStrategy: () => 50 });
    redis.on('error', () => undefined);
    try {
      await redis.set('paid', 'yes');
      await server.kill();
      await server.start();
      expect(await redis.get('paid')).toBe('yes');
      expect(await redis.config('GET', 'appendfsync')).toEqual(['appendfsync', 'always']);
    } finally {
      redis.disconnect();
      await server.stop();
    }
    expect(existsSync(server.dir)).toBe(false);
  });

  it('forgets everything without the append-only file', async () => {
    const server = await startRedis({ appendonly: false });
    const redis = new Redis(server.url);
    redis.on('error', () => undefined);
    try {
      await redis.set('paid', 'yes');
      await server.kill();
      await server.start();
      expect(await redis.get('paid')).toBeNull();
    } finally {
      redis.disconnect();
      await server.stop();
    }
  });

  // Prevents: two servers that take one port at once both count as started, and two specs share one Redis.
  it('does not take the answers of another server on its port for its own', async () => {
    const first = await startRedis();
    try {
      await expect(startRedis({ port: first.port })).rejects.toThrow('Address already in use');
    } finally {
      await first.stop();
    }
  });
});
