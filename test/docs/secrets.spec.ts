import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Kills the process in the middle of the first file that it writes. */
const CUT_OFF = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const write = fs.writeFileSync;
  fs.writeFileSync = (file, text, options) => {
    write(file, text.slice(0, 5), options);
    process.kill(process.pid, 'SIGKILL');
  };
  syncBuiltinESMExports();
`)}`;

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'secrets-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const SCRIPTS = [
  ['deploy/create-secrets.mjs', 'secret', 64, () => [join(folder, 'secret')]],
  [
    'deploy/redis/create-users.mjs',
    'gateway/password',
    43,
    () => [join(folder, 'users.acl'), folder, 'redis://redis:6379'],
  ],
] as const;

describe.each(SCRIPTS)('%s', (script, name, length, listArguments) => {
  const file = () => join(folder, name);
  const run = (...options: string[]) =>
    spawnSync(process.execPath, [...options, script, ...listArguments()], { encoding: 'utf8' });

  it('creates a secret once, for its owner alone', () => {
    expect(run().status).toBe(0);
    const secret = readFileSync(file(), 'utf8');
    expect(secret).toHaveLength(length);
    expect(statSync(file()).mode & 0o777).toBe(0o400);
    expect(run().status).toBe(0);
    expect(readFileSync(file(), 'utf8')).toBe(secret);
  });

  it('keeps no part of a secret that was cut off', () => {
    expect(run('--import', CUT_OFF).signal).toBe('SIGKILL');
    expect(existsSync(file())).toBe(false);
    expect(run().status).toBe(0);
    expect(readFileSync(file(), 'utf8')).toHaveLength(length);
    expect(readdirSync(folder, { recursive: true }).filter((one) => String(one).endsWith('.part'))).toEqual([]);
  });

  it('refuses an empty file, and says what to do', () => {
    run();
    rmSync(file());
    writeFileSync(file(), '');
    const { status, stderr } = run();
    expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`${name} is empty: .* Remove it, and run`))]);
    expect(readFileSync(file(), 'utf8')).toBe('');
  });
});
