import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { findRedis70, findRedisServer, nameServer } from '../../../scripts/setup/find-redis-server.mjs';

describe('the server that the project starts', () => {
  const { PATH, TOLLGATE_OWN_SERVERS, TOLLGATE_REDIS_7_0 } = process.env;
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tollgate-servers-'));
    process.env['PATH'] = join(root, 'bin');
    delete process.env['TOLLGATE_OWN_SERVERS'];
    delete process.env['TOLLGATE_REDIS_7_0'];
  });

  afterEach(() => {
    const before = { PATH, TOLLGATE_OWN_SERVERS, TOLLGATE_REDIS_7_0 };
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(root, { recursive: true });
  });

  /** A program that says it is a server of this version. */
  function write(path: string, version: string): string {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\necho "Server v=${version} sha=00000000:0 malloc=libc bits=64"\n`, { mode: 0o755 });
    return file;
  }

  /** As the setup leaves it. */
  function unpack(name: string, version: string): string {
    const command = write(`.tollgate/${name}-bin/server`, version);
    writeFileSync(join(dirname(command), 'program.json'), JSON.stringify({ command, libraries: '/nowhere' }));
    return command;
  }

  it.each([
    ['redis-server', '7.2.4'],
    ['redis-server', '8.0.1'],
    ['valkey-server', '8.1.3'],
  ])('is a %s %s on the PATH', (name, version) => {
    unpack('valkey', '8.0.0');
    const command = write(`bin/${name}`, version);
    expect(findRedisServer(root)).toEqual({ command, environment: {} });
  });

  it('is the unpacked one where the PATH has none, or only one that is too old', () => {
    expect(findRedisServer(root)).toBeUndefined();
    write('bin/redis-server', '7.0.15');
    expect(findRedisServer(root)).toBeUndefined();
    const command = unpack('valkey', '8.0.0');
    expect(findRedisServer(root)).toEqual({ command, environment: { LD_LIBRARY_PATH: '/nowhere' } });
  });

  it('is the unpacked one alone with TOLLGATE_OWN_SERVERS=1', () => {
    process.env['TOLLGATE_OWN_SERVERS'] = '1';
    write('bin/redis-server', '8.0.1');
    write('bin/valkey-server', '8.0.1');
    expect(findRedisServer(root)).toBeUndefined();
    const command = unpack('valkey', '8.0.0');
    expect(findRedisServer(root)).toMatchObject({ command });
  });

  it('has a name with its version, without what only corrects errors', () => {
    write('bin/valkey-server', '8.10.3');
    expect(nameServer(findRedisServer(root)!)).toBe('Server 8.10');
  });

  it('is, for the spec of Redis 7.0, never a newer one', () => {
    write('bin/redis-server', '7.2.4');
    expect(findRedis70(root)).toBeUndefined();
    const unpacked = unpack('redis-7.0', '7.0.15');
    expect(findRedis70(root)).toMatchObject({ command: unpacked });
    process.env['TOLLGATE_REDIS_7_0'] = write('elsewhere/redis', '7.0.9');
    expect(findRedis70(root)).toMatchObject({ command: process.env['TOLLGATE_REDIS_7_0'] });
  });

  it('is, for that spec, one of the PATH except with TOLLGATE_OWN_SERVERS=1', () => {
    const command = write('bin/redis-server', '7.0.15');
    expect(findRedis70(root)).toMatchObject({ command });
    process.env['TOLLGATE_OWN_SERVERS'] = '1';
    expect(findRedis70(root)).toBeUndefined();
  });
});
