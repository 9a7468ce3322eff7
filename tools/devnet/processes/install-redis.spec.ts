import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { installRedis, installRedis70 } from '../../../scripts/setup/install-redis.mjs';

describe('the set-up of servers', () => {
  const { PATH, TOLLGATE_OWN_SERVERS } = process.env;
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tollgate-install-'));
    mkdirSync(join(root, 'bin'));
    process.env['PATH'] = join(root, 'bin');
  });

  afterEach(() => {
    for (const [name, value] of Object.entries({ PATH, TOLLGATE_OWN_SERVERS })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(root, { recursive: true });
  });

  /** A stand-in for a program of the system, which records its calls. */
  function standIn(name: string, script: string): void {
    const text = `#!/bin/sh\necho "${name} $*" >> ${join(root, 'calls')}\n${script}\n`;
    writeFileSync(join(root, 'bin', name), text, { mode: 0o755 });
  }

  function readCalls(): string[] {
    return existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : [];
  }

  function listVersions(version: string): void {
    const rows = ['server', 'tools'].map((part) => `redis-${part} | ${version} | http://deb.debian.org/debian`);
    standIn('apt-cache', `case "$*" in *madison*) printf '%s\\n' ${rows.map((row) => `'${row}'`).join(' ')};; esac`);
  }

  it.each([
    ['', ['dnf install -y valkey', 'apk add --no-cache valkey', 'brew install valkey']],
    ['1', []],
  ])('installs into the system with TOLLGATE_OWN_SERVERS=%j: %j', async (own, allowed) => {
    process.env['TOLLGATE_OWN_SERVERS'] = own;
    for (const name of ['dnf', 'apk', 'brew']) standIn(name, '');
    const isForUser = (call: string) => call.startsWith('brew') === (process.getuid?.() !== 0);
    await expect(installRedis(root)).rejects.toThrow('there is no Valkey');
    expect(readCalls()).toEqual(allowed.filter(isForUser));
  });

  it('names REDIS_URL to those alone for whom a Redis that runs is enough', async () => {
    const remedy = expect.stringContaining('REDIS_URL') as unknown;
    await expect(installRedis(root, { needsServer: false })).rejects.toMatchObject({ remedy });
    await expect(installRedis(root)).rejects.not.toMatchObject({ remedy });
  });

  it('downloads no Redis of another version than 7.0 or 7.1, and says what to do', async () => {
    listVersions('5:8.0.2-3+deb13u1');
    standIn('apt-get', 'exit 1');
    await expect(installRedis70(root)).rejects.toMatchObject({
      message: expect.stringMatching(/^there is no Redis 7\.0 or 7\.1, .* TOLLGATE_REDIS_7_0/) as string,
      tail: ['the package lists have redis-server 5:8.0.2-3+deb13u1'],
    });
    expect(readCalls()).toEqual(['apt-cache madison redis-server redis-tools']);
  });

  // Prevents: two versions of one program or library are unpacked over each other.
  it('unpacks nothing of a download that failed halfway, for instance because the lists are old', async () => {
    listVersions('5:7.0.15-1~deb12u7');
    const halfway = 'echo > libold_1.deb; exit 1';
    standIn('apt-get', `case "$*" in download*) ${halfway};; *download*) echo > libnew_2.deb;; esac`);
    standIn('dpkg', '');
    await expect(installRedis70(root)).rejects.toThrow('there is no Redis 7.0');
    const unpacked = readCalls().filter((call) => call.startsWith('dpkg -x'));
    expect(unpacked).toEqual([expect.stringContaining('libnew_2.deb')]);
  });

  it('downloads the version of Redis that the lists name', async () => {
    listVersions('5:7.0.15-1~deb12u7');
    standIn('apt-get', '[ "$1" = download ]');
    await expect(installRedis70(root)).rejects.toThrow('there is no Redis 7.0');
    expect(readCalls()).toContain('apt-get download redis-server=5:7.0.15-1~deb12u7 redis-tools=5:7.0.15-1~deb12u7');
  });
});
