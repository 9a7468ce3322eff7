import { execFile, type ExecFileException } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { OPTIONAL_PACKAGES } from '../../packages/agent-kit/src/load-packages.js';

interface Manifest {
  name: string;
  exports: Record<string, unknown>;
  bin?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** In the units of `du -m`. */
const MEGABYTE = 2 ** 20;
const FOLDERS = ['protocol', 'client', 'middleware', 'agent-kit'];
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join('packages', folder, 'package.json'), 'utf8')) as Manifest;
const manifests = FOLDERS.map(readManifest);
const kit = readManifest('agent-kit');
const frameworks = Object.keys(kit.peerDependencies ?? {});
const entries = manifests.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => join(name, path)),
);
/** Those that need no optional package, and whose types need none. */
const plain = entries.filter(
  (entry) => !/agent-kit\/(langchain|mcp|ai-sdk)|middleware\/|client\/(axios|mcp)$/.test(entry),
);
const programs = manifests.flatMap(({ bin = {} }) => Object.keys(bin));

const KEY = `0x${'11'.repeat(32)}`;
const RPC = 'http://127.0.0.1:1';

let project: string;

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function run(command: string, args: readonly string[], { cwd = project, env = {} } = {}): Promise<Ended> {
  const { PATH, HOME } = process.env;
  return new Promise((done) => {
    const finish = (error: ExecFileException | null, stdout: string, stderr: string) =>
      done({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    execFile(command, args, { cwd, env: { PATH, HOME, ...env } }, finish);
  });
}

/** Runs a module in the project and reads what it prints as JSON. */
async function evaluate(source: string): Promise<unknown> {
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', source]);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

/** The outcome of importing each entry: its exported names, or the error. */
const importAll = (names: readonly string[]) =>
  evaluate(`const results = {};
    for (const name of ${JSON.stringify(names)}) {
      results[name] = await import(name).then(Object.keys, ({ code, message }) => ({ code, message }));
    }
    console.log(JSON.stringify(results));`);

/**
 * The size of a folder's files in bytes: `onDisk` in whole blocks, as `du` counts; `unpacked` as npm reports a tarball.
 */
function sizeOf(path: string, unit: 'onDisk' | 'unpacked'): number {
  const stats = lstatSync(path);
  const own = unit === 'onDisk' ? stats.blocks * 512 : stats.size;
  if (!stats.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name), unit), unit === 'onDisk' ? own : 0);
}

/** Carries out the page's instructions. */
async function installAsDocumented(): Promise<void> {
  const page = readFileSync('packages/agent-kit/README.md', 'utf8');
  const [, section = ''] = page.split('\n## In your own project\n');
  const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  const env = { PROJECT: project, npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
  const { code, stdout, stderr } = await run('sh', ['-e', '-c', commands], { cwd: process.cwd(), env });
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`);
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'tollgate-packed-'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await installAsDocumented();
}, 600_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('our packages, packed and installed in an empty project', () => {
  it('weigh at most 100 MB with all that they need, and 2 MB each', () => {
    const installed = join(project, 'node_modules');
    expect(sizeOf(installed, 'onDisk')).toBeLessThanOrEqual(100 * MEGABYTE);
    const heavy = manifests.filter(({ name }) => sizeOf(join(installed, name), 'unpacked') > 2 * MEGABYTE);
    expect(heavy.map(({ name }) => name)).toEqual([]);
  });

  it('depend on no framework', () => {
    expect(frameworks).toEqual(
      expect.arrayContaining(['langchain', '@langchain/langgraph', '@modelcontextprotocol/sdk', 'ai']),
    );
    expect(frameworks.filter((name) => existsSync(join(project, 'node_modules', name)))).toEqual([]);
  });

  it('name every optional package, with the major version that is installed', () => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = kit;
    const majors = Object.entries(peerDependencies).map(([name, range]) => [name, /\d+/.exec(range)?.[0]]);
    expect(Object.fromEntries(majors)).toEqual(OPTIONAL_PACKAGES);
    const page = readFileSync('packages/agent-kit/README.md', 'utf8');
    expect(majors.map(([name, major]) => `\`${name}@${major}\``).filter((text) => !page.includes(text))).toEqual([]);
    expect(frameworks.filter((name) => peerDependenciesMeta[name]?.optional !== true)).toEqual([]);
  });

  it('load by every entry, or report in one sentence what to install', async () => {
    const missing = (entry: string, name: string) => ({
      code: 'PACKAGE_MISSING',
      message: `${entry} needs the package ${name}, which is not installed: run \`npm install ${name}@1\`.`,
    });
    expect(await importAll(entries)).toEqual({
      ...Object.fromEntries(entries.map((entry) => [entry, expect.any(Array) as unknown])),
      '@tollgate/agent-kit/langchain': missing('@tollgate/agent-kit/langchain', '@langchain/core'),
      '@tollgate/agent-kit/mcp': missing('@tollgate/agent-kit/mcp', '@modelcontextprotocol/sdk'),
    });
  });

  it.each(programs)('answer %s --help', async (program) => {
    const { code, stdout } = await run(join(project, 'node_modules', '.bin', program), ['--help']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Usage: ') });
  });

  it.each([
    ['tollgate-chat', ['--model', 'openai'], '@langchain/core', 'langchain@1 @langchain/core@1 @langchain/langgraph@1'],
    ['tollgate-mcp', [], '@modelcontextprotocol/sdk', '@modelcontextprotocol/sdk@1'],
  ])('let %s %j report what to install', async (program, args, name, packages) => {
    const env = { RPC_URL: RPC, WALLET_PRIVATE_KEY: KEY };
    const { code, stdout, stderr } = await run(join(project, 'node_modules', '.bin', program), args, { env });
    const sentence = `${program} needs the package ${name}, which is not installed: run \`npm install ${packages}\`.\n`;
    expect({ code, printed: stdout + stderr }).toEqual({ code: 1, printed: sentence });
  });

  it('load by require, as the modules that an import gets', async () => {
    const loaded = await evaluate(`import { createRequire } from 'node:module';
      const require = createRequire(process.cwd() + '/');
      const differing = [];
      for (const name of ${JSON.stringify(plain)}) if (require(name) !== await import(name)) differing.push(name);
      console.log(JSON.stringify(differing));`);
    expect(loaded).toEqual([]);
  });

  it('export from the client what its README lists', async () => {
    const [, section = ''] = readFileSync('packages/client/README.md', 'utf8').split('\n## What it exports\n');
    const [rows = ''] = section.split('\nand the types ');
    const listed = [...rows.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, names = '']) => names.match(/\w+/g));
    const { '@tollgate/client': exported } = (await importAll(['@tollgate/client'])) as Record<string, string[]>;
    expect(exported).toEqual(listed.sort());
  });

  // Libraries are checked too where these are ES modules for Node; with node16, a dependency of viem has errors of its own.
  it.each([
    ['index.mts', { module: 'nodenext' }],
    ['index.cts', { module: 'nodenext', skipLibCheck: true }],
    ['index.mts', { module: 'node16', skipLibCheck: true }],
    ['index.cts', { module: 'node16', skipLibCheck: true }],
    ['index.mts', { module: 'esnext', moduleResolution: 'bundler', skipLibCheck: true }],
    ['index.cts', { module: 'commonjs', moduleResolution: 'bundler', skipLibCheck: true }],
  ])(
    'pass the type check of a strict project: %s with %j',
    async (file, options) => {
      const source = plain.map((entry, index) => `import * as entry${index} from '${entry}';\nvoid entry${index};\n`);
      writeFileSync(join(project, file), source.join(''));
      const compilerOptions = { strict: true, noEmit: true, target: 'es2022', types: [], ...options };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
      const { stdout } = await run(resolve('node_modules', 'typescript-native', 'bin', 'tsc'), ['-p', '.']);
      expect(stdout).toBe('');
    },
    300_000,
  );

  // It needs Node 22 to run; the kit's tests run version 6.
  it('fit the types of version 7 of the AI SDK', async () => {
    symlinkSync(resolve('test', 'interop', 'node_modules', 'ai'), join(project, 'node_modules', 'ai'));
    const source = `import { generateText, type ToolSet } from 'ai';
      import { AgentKit } from '@tollgate/agent-kit';
      import { createAiSdkTools } from '@tollgate/agent-kit/ai-sdk';
      const tools: ToolSet = createAiSdkTools(new AgentKit('${KEY}', 'offline'));
      void generateText({ model: 'any', prompt: 'What do I own?', tools });`;
    writeFileSync(join(project, 'ai.mts'), source);
    const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', types: [], skipLibCheck: true };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['ai.mts'] }));
    const { stdout } = await run(resolve('node_modules', 'typescript-native', 'bin', 'tsc'), ['-p', '.']);
    expect(stdout).toBe('');
  }, 300_000);

  it('work once a framework is there, also for a program that requires them', async () => {
    for (const name of ['@langchain/core', '@modelcontextprotocol/sdk']) {
      const link = join(project, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(resolve('node_modules', name), link);
    }
    const source = `import { createRequire } from 'node:module';
      import { AgentKit } from '@tollgate/agent-kit';
      import { createLangChainTools } from '@tollgate/agent-kit/langchain';
      import { createMcpServer } from '@tollgate/agent-kit/mcp';
      const require = createRequire(process.cwd() + '/');
      const kit = new AgentKit('${KEY}', 'offline', { rpcUrl: '${RPC}' });
      createMcpServer(kit);
      const offered = new Set(createLangChainTools(kit).map(({ name }) => name));
      console.log(JSON.stringify({
        tools: kit.operations().every(({ name }) => offered.has(name)),
        isRequired: require('@tollgate/agent-kit/langchain').createLangChainTools === createLangChainTools,
      }));`;
    expect(await evaluate(source)).toEqual({ tools: true, isRequired: true });
  });
});
