import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

import type { Command } from 'commander';

import { createProgram } from '../../tools/cli/program.js';
import { tollgate } from '../../tools/cli/test/run-tollgate.js';
import { borrowRedis, type BorrowedRedis } from '../harness/stack/borrow-redis.js';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** What a script runs in the end, if that answers `--help`: its file has the text, or it is the command line. */
function programOf(script: string): string | null {
  const last = script.split('&&').at(-1)?.trim() ?? '';
  const file = last.split(' ').findLast((word) => /\.(mjs|ts)$/.test(word));
  if (file === undefined) return null;
  // The lanes' options have a file of their own.
  const text = readFileSync(file === 'bench/main.ts' ? 'bench/options.ts' : file, 'utf8');
  return /\bHELP\b|--help/.test(text) ? last : null;
}

const programs = Object.entries(scripts).flatMap(([name, script]): [string, string][] => {
  const program = programOf(script);
  return program === null ? [] : [[name, program]];
});

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'helps-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runInShell(command: string): { status: number | null; text: string } {
  const path = `${resolve('node_modules/.bin')}${delimiter}${process.env['PATH']}`;
  const env = { ...process.env, PATH: path, TOLLGATE_STATE_DIR: folder };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

describe('the help of each npm script that has one', () => {
  it('is found', () => {
    expect(programs.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'setup',
        'dev',
        'stop',
        'demo',
        'prove',
        'bench',
        'release',
        'test:upgrade',
        'check:live',
      ]),
    );
  });

  it.each(programs)('%s has an example', (name, program) => {
    const { status, text } = runInShell(`${program} --help`);
    expect(status).toBe(0);
    const [, example = ''] = /^Example: npm run (\S+)/m.exec(text) ?? [];
    expect(example.split(':')[0]).toBe(name.split(':')[0]);
  });

  it.each(['stop', 'setup'])('%s has one that runs', (name) => {
    const [, example = ''] =
      /^Example: (npm run .+)$/m.exec(runInShell(`${programOf(scripts[name]!)} --help`).text) ?? [];
    expect(runInShell(example)).toMatchObject({ status: 0 });
  });
});

function listCommands(command: Command, names: readonly string[] = []): [line: string, help: string][] {
  let help = '';
  command.configureOutput({ writeOut: (part) => (help += part) });
  command.outputHelp();
  return [[names.join(' '), help], ...command.commands.flatMap((one) => listCommands(one, [...names, one.name()]))];
}

const ignore = () => undefined;
const commands = listCommands(createProgram({ env: {}, stdout: ignore, stderr: ignore }, ignore));
/** Those of payers and agents act in this process. */
const isOfPackages = (line: string): boolean => ['pay', 'chat', 'mcp'].includes(line);
const examples = commands
  .filter(([line]) => !isOfPackages(line))
  .flatMap(([line, help]) =>
    [...help.matchAll(/^Example: .*?\btollgate (.+)$/gm)].map(([, example = '']) => [line, example] as const),
  );

describe('the help of tollgate', () => {
  let redis: BorrowedRedis;

  beforeAll(async () => {
    redis = await borrowRedis();
  });
  afterAll(() => redis.stop());

  it.each(commands)('of "%s" has an example', (_line, help) => {
    expect(help).toMatch(/^(Examples?:| *tollgate\S* )/m);
  });

  it.each(examples)('of "%s" has one that is right: tollgate %s', async (_line, example) => {
    const args = [...example.matchAll(/(['"])(.*?)\1|(\S+)/g)].map(([, , quoted, word]) => quoted ?? word ?? '');
    const env = { REDIS_URL: 'redis://127.0.0.1:9', OPERATOR_URL: 'http://127.0.0.1:9', OPERATOR_API_KEY: 'none' };
    // Nothing answers there, so it is not done; wrong usage would be 2.
    await expect(tollgate(args, env)).rejects.toMatchObject({ code: 1 });
  });

  it.each(['payments list', 'payments refused', 'keys list', 'jobs list'])(
    'of "%s" has one that runs',
    async (line) => {
      const [, example = ''] = examples.find(([name]) => name === line) ?? [];
      await expect(tollgate(example.split(' '), { REDIS_URL: redis.url })).resolves.toEqual(expect.any(String));
    },
  );
});
