import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const SCRIPT = resolve('scripts/release/release.mjs');
const CHANGELOG = '# Changelog\n\n## 1.2.0 - 2026-01-31\n\n### Added\n\n- A gate.\n\n## 1.1.0 - 2026-01-01\n\n- Old.\n';

let folder: string;

function write(path: string, content: unknown): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function commit(): void {
  git('add', '--all');
  git('commit', '--message', 'A change');
}

function release(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const names = { GIT_COMMITTER_NAME: 'test', GIT_COMMITTER_EMAIL: 'test@example.org' };
  return new Promise((done) => {
    execFile(process.execPath, [SCRIPT, ...args], { cwd: folder, env: { ...process.env, ...names } }, (error, ...out) =>
      done({ code: error === null ? 0 : Number(error.code), stdout: out[0], stderr: out[1] }),
    );
  });
}

/** A repository of two packages, at version 1.2.0. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
  const one = { name: '@example/one', version: '1.2.0' };
  const two = { name: '@example/two', version: '0.3.0', dependencies: { '@example/one': '1.2.0' } };
  write('package.json', { name: 'example', version: '1.2.0', private: true, workspaces: ['libs/one', 'libs/two'] });
  write('package-lock.json', { packages: { '': { version: '1.2.0' }, 'libs/one': one, 'libs/two': two } });
  write('libs/one/package.json', one);
  write('libs/two/package.json', two);
  write('CHANGELOG.md', CHANGELOG);
  write('.gitignore', 'dist/\n');
  git('init', '--initial-branch=main');
  commit();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm run release', () => {
  it('packs, names tag, image and notes, and makes no tag in a dry run', async () => {
    const { code, stdout, stderr } = await release('--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('v1.2.0 (not made: dry run)');
    expect(stdout).toContain('tollgate/service:1.2.0');
    expect(stdout).toContain('### Added\n\n- A gate.');
    expect(stdout).not.toContain('Old.');
    for (const name of ['example-one-1.2.0.tgz', 'example-two-0.3.0.tgz']) {
      expect(existsSync(join(folder, 'dist/release/1.2.0', name))).toBe(true);
    }
    expect(git('tag')).toBe('');
  });

  it('makes an annotated tag with the notes', async () => {
    expect(await release()).toMatchObject({ code: 0, stderr: '' });
    expect(git('tag', '--list', '--format=%(objecttype) %(refname:short) %(contents)')).toBe(
      'tag v1.2.0 v1.2.0\n\n### Added\n\n- A gate.',
    );
  });

  it('shows every problem in a dry run, and the unreleased notes', async () => {
    git('tag', 'v1.2.0');
    git('switch', '--create', 'other');
    write('CHANGELOG.md', CHANGELOG.replace('1.2.0 - 2026-01-31', 'Unreleased'));
    write('libs/one/package.json', { name: '@example/one', version: '1.3.0' });
    const { code, stdout, stderr } = await release('--dry-run');
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      '✗ The branch is other: releases are made from main.',
      '✗ The tree is not clean (2 files): commit or remove what `git status` shows.',
      '✗ The tag v1.2.0 exists: raise the version in package.json.',
      '✗ package-lock.json has @example/one 1.2.0, not 1.3.0: run `npm install`.',
      '✗ @example/two depends on @example/one 1.2.0, and that is 1.3.0.',
      '✗ CHANGELOG.md has no section "## 1.2.0 - <date>": rename "## Unreleased" to it.',
    ]);
    expect(stdout).toContain('- A gate.');
  });

  it('needs the date of the release, but not in a dry run', async () => {
    write('CHANGELOG.md', CHANGELOG.replace('2026-01-31', 'Unreleased'));
    commit();
    expect(await release('--dry-run')).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout, stderr } = await release();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^✗ CHANGELOG.md has no date of 1\.2\.0: write "## 1\.2\.0 - \d{4}-\d\d-\d\d"\.\n$/);
    expect(git('tag')).toBe('');
  });

  it('makes nothing where there is a problem', async () => {
    write('left.txt', 'over');
    expect(await release()).toMatchObject({ code: 1, stdout: '' });
    expect(git('tag')).toBe('');
    expect(existsSync(join(folder, 'dist'))).toBe(false);
  });

  it('answers --help, and refuses unknown options', async () => {
    expect(await release('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('npm run release') });
    expect(await release('--publish')).toMatchObject({ code: 2, stderr: expect.stringContaining('--publish') });
  });
});
