import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build } from 'esbuild';

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

describe('deploy/redis/create-users.mjs, run again with another URL', () => {
  const run = (url: string) =>
    spawnSync(process.execPath, ['deploy/redis/create-users.mjs', join(folder, 'users.acl'), folder, url], {
      encoding: 'utf8',
    }).stdout;
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');

  it('keeps the passwords, writes each URL anew, and says so', () => {
    run('redis://redis:6379');
    const password = read('verifier/password');
    expect(read('verifier/url')).toBe(`redis://verifier:${password}@redis:6379`);
    expect(run('rediss://other:6380')).toContain(`${join(folder, 'verifier/url')}: written\n`);
    expect(read('verifier/url')).toBe(`rediss://verifier:${password}@other:6380`);
    expect(read('verifier/password')).toBe(password);
    expect(statSync(join(folder, 'verifier/url')).mode & 0o777).toBe(0o400);
    expect(run('rediss://other:6380')).not.toContain('/url');
  });
});

/** Files of the paths that documentation and compose files have operators fill with secrets, or did before. */
function listOperatorsFiles(): string[] {
  const pages = execFileSync('git', ['ls-files', '*.md', 'docker-compose*.yml'], { encoding: 'utf8' }).trim();
  const text = pages
    .split('\n')
    .map((page) => readFileSync(page, 'utf8'))
    .join('\n');
  const named = [
    ...text.matchAll(/create-users\.mjs (\S+) (\S+) redis/g),
    ...text.matchAll(/\b(?:AGENT_WALLETS|RELAYER_KEYS|TOLLGATE_ENV_FILE)=([\w./~-]*\w)/g),
    ...text.matchAll(/--from-file=(?:[\w-]+=)?(\S+)/g),
  ].flatMap(([, ...paths]) => paths);
  const before = ['users.acl', 'secrets/verifier/url', 'wallets/main.key', 'wallets/main.json', 'relayer/own-key'];
  // As it stands in the example of TLS_KEY.
  return [...new Set([...named, ...before, 'key.pem'])].filter(
    // Not the examples that are in the repository.
    (path) => !/^(~|\/|\.\.\/)/.test(path) && path !== 'deploy/two-chains.env',
  );
}

describe('a checkout with secrets in it', () => {
  const files = listOperatorsFiles();
  /** Of these paths, those that an ignore file in git's format leaves out. */
  const findIgnored = (rules: string, paths: readonly string[]): string[] => {
    execFileSync('git', ['init', '--quiet', folder]);
    writeFileSync(join(folder, '.gitignore'), rules);
    const input = paths.join('\n');
    // Status 1: none.
    const { stdout } = spawnSync('git', ['check-ignore', '--no-index', '--stdin'], {
      cwd: folder,
      input,
      encoding: 'utf8',
    });
    return stdout.split('\n').filter((path) => path !== '');
  };
  /** Docker's rules begin at the root, unless they begin with `**`. */
  const readImageRules = () => readFileSync('.dockerignore', 'utf8').replaceAll(/^(!?)(?=[^#!\n])(?!\*\*)/gm, '$1/');

  it('is known by what operators are told', () => {
    expect(files).toEqual(
      expect.arrayContaining(['.env', 'wallets.yaml', 'main.key', 'secrets/verifier/password', 'signing-key']),
    );
  });

  it('gives none of them to git', () => {
    expect(findIgnored(readFileSync('.gitignore', 'utf8'), files)).toEqual(files);
  });

  it('gives none of them to the image, wherever they lie', () => {
    const elsewhere = ['.env', 'wallets.yaml', 'main.key', 'secrets/verifier/url', 'users.acl', 'key.pem'];
    const paths = [...files, ...elsewhere.map((file) => `deploy/redis/${file}`)];
    expect(findIgnored(readImageRules(), paths)).toEqual(paths);
  });

  it('gives the image all that it is built from and runs', async () => {
    const dockerfile = readFileSync('Dockerfile', 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from|\. )(.+) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' '),
    );
    const programs = [
      ...dockerfile.matchAll(/\b(?:tools|deploy)\/[\w./-]+\.(?:mjs|ts)\b/g),
      ...readFileSync('docker-compose.yml', 'utf8').matchAll(
        /(?<![./])\b(?:tools|deploy|scripts)\/[\w./-]+\.(?:mjs|ts)\b/g,
      ),
    ].map(([path]) => path);
    const nest = JSON.parse(readFileSync('nest-cli.json', 'utf8')) as { projects: Record<string, { root: string }> };
    const services = Object.values(nest.projects).map(({ root }) => `${root}/src/main.ts`);
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { build: string } };
    const built = [...scripts.build.matchAll(/scripts\/\S+/g)].map(([path]) => path);
    const pages = ['apps/gateway/web/main.ts', 'apps/bookkeeper/web/main.tsx', 'apps/gateway/web/pages.css'];
    const { metafile } = await build({
      entryPoints: [...programs, ...services, ...built, ...pages, 'tools/cli/main.ts'],
      bundle: true,
      write: false,
      metafile: true,
      outdir: folder,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      loader: { '.lua': 'text', '.sql': 'text' },
      logLevel: 'error',
    });
    const configured = ['nest-cli.json', 'rspack.config.cjs', 'tsconfig.json', 'scripts/swc-options.json'];
    const needed = [...Object.keys(metafile.inputs), ...copied, ...configured, 'scripts/build/load-packages.mjs'];
    expect(needed.length).toBeGreaterThan(500);
    expect(findIgnored(readImageRules(), needed)).toEqual([]);
  });
});
