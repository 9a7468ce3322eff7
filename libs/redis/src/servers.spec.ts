import type { Redis } from 'ioredis';

import { checkServers } from './servers.js';

describe('the check of a server', () => {
  const server = (version: string, aof = '1', bits = '64', hidden = ''): Redis => {
    const facts = {
      redis_version: version,
      run_id: '0c1d2e3f',
      arch_bits: bits,
      role: 'master',
      connected_slaves: '0',
      master_replid: '9f0c1d2e',
      master_replid2: '00000000',
      maxmemory_policy: 'noeviction',
      aof_enabled: aof,
    };
    const shown = Object.entries(facts).filter(([name]) => name !== hidden);
    const lines = shown.map(([name, value]) => `${name}:${value}`);
    const stub = {
      isCluster: false,
      exists: () => Promise.resolve(0),
      info: () => Promise.resolve(`${lines.join('\r\n')}\r\n`),
      config: () => Promise.resolve(['appendfsync', 'always']),
    };
    return stub as never;
  };
  const needs = { store: 'ledger', eviction: '' };

  it.each(['7.0.15', '7.1.0', '6.2.0'])('refuses Redis %s where replicas must acknowledge', async (version) => {
    const refused = checkServers(server(version), { ...needs, isAcknowledged: true });
    await expect(refused).rejects.toMatchObject({ name: 'StoreError' });
  });

  it('says which version is needed', async () => {
    await expect(checkServers(server('7.0.15'), { ...needs, isAcknowledged: true })).rejects.toMatchObject({
      code: 'redis_without_waitaof',
      message: 'Redis 7.0.15 has no WAITAOF, by which LEDGER_DURABILITY=replica waits for the replicas.',
      hint: 'Use Redis 7.2 or later, or Valkey, or set LEDGER_DURABILITY=local.',
    });
  });

  it('refuses a server of 32 bits, whose scripts cannot write a time in milliseconds', async () => {
    await expect(checkServers(server('8.0.1', '1', '32'), needs)).rejects.toMatchObject({ code: 'redis_32_bits' });
  });

  it('refuses a server without a file where replicas must acknowledge', async () => {
    const refused = checkServers(server('7.2.4', '0'), { ...needs, isAcknowledged: true });
    await expect(refused).rejects.toMatchObject({ code: 'redis_without_file' });
  });

  it.each(['redis_version', 'run_id', 'role', 'master_replid', 'master_replid2', 'connected_slaves'])(
    'refuses a server that hides %s, and names it',
    async (hidden) => {
      const refused = checkServers(server('7.2.4', '1', '64', hidden), { ...needs, isAcknowledged: true });
      await expect(refused).rejects.toMatchObject({
        code: 'redis_hides_failovers',
        message: expect.stringContaining(` ${hidden} from INFO`),
      });
    },
  );

  it.each(['7.2.4', '8.0.1'])(
    'takes Redis %s where they must, and an older one where they need not',
    async (version) => {
      expect(await checkServers(server(version), { ...needs, isAcknowledged: true })).toBe(true);
      expect(await checkServers(server('7.0.15'), needs)).toBe(true);
    },
  );
});
