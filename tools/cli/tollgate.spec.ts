import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Command } from 'commander';

import { startRedisShards } from '../devnet/processes/redis-shards.js';
import { createProgram } from './program.js';
import { NOT_DONE, tollgate } from './test/run-tollgate.js';

const run = promisify(execFile);

function leavesOf(command: Command, names: readonly string[]): string[][] {
  if (command.commands.length === 0) return [[...names]];
  return command.commands.flatMap((one) => leavesOf(one, [...names, one.name()]));
}

const ignore = () => undefined;
const commands = leavesOf(createProgram({ env: {}, stdout: ignore, stderr: ignore }, ignore), []);
/** These write their help to the terminal of the process. */
const isOfPackages = ([name = '']: string[]) => ['pay', 'chat', 'mcp'].includes(name);

describe('tollgate', () => {
  it.each(commands.filter((names) => !isOfPackages(names)))(
    '%s %s has help with an example and exit codes',
    async (...names) => {
      const help = await tollgate([...names, '--help']);
      expect(help).toMatch(new RegExp(`^Usage: tollgate ${names.join(' ')}`));
      // An export has --format instead.
      expect(help).toMatch(names[0] === 'export' ? /^(?!.* --json )(?=.*\n {2}--format )/s : /\n {2}--json /);
      expect(help).toMatch(new RegExp(`\nExample: .*tollgate ${names.join(' ')}`));
      expect(help).toMatch(/\nExit codes: 0 /);
    },
  );

  it.each([[[]], [['--help']], [['help']]])('lists its commands for %j', async (args) => {
    const help = await tollgate(args);
    for (const name of new Set(commands.map(([first = '']) => first))) {
      expect(help).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
  });

  // Regression: the help of refunds told people to create a key that the bookkeeper refuses.
  it.each([
    ['refund', 'refund'],
    ['refunds', 'refund'],
    ['book', 'read'],
    ['export', 'read'],
    ['payment-webhooks', 'read'],
  ])('names the scope that the key for %s needs', async (name, scope) => {
    expect(await tollgate([name, '--help'])).toMatch(
      new RegExp(`needs the scope operator:${scope}[^]* --scope operator:${scope}\\n`),
    );
  });

  it.each([
    ['paymnts', 'payments', 'tollgate'],
    ['payments lst', 'list', 'tollgate payments'],
    ['payments list --limti 1', '--limit', 'tollgate payments list'],
  ])('suggests the nearest for %s', async (line, nearest, place) => {
    await expect(tollgate(line.split(' '))).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`\\(Did you mean ${nearest}\\?\\)\nSee ${place} --help\\.\n$`)),
    });
  });

  it('repeats no value of an unknown option', async () => {
    const typed = tollgate(['payments', 'list', '--reds=redis://:canary@127.0.0.1']);
    await expect(typed).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("unknown option '--reds'") });
    await expect(typed).rejects.not.toThrow(/canary/);
  });

  it.each(['payments', 'jobs', 'keys', 'wallets', 'webhooks'])(
    'reports for %s that Redis does not answer',
    async (name) => {
      const typed = tollgate([name, 'list', '--json'], { REDIS_URL: 'redis://:canary@127.0.0.1:9' });
      await expect(typed).rejects.toMatchObject({
        ...NOT_DONE,
        stderr: 'Redis did not answer (ECONNREFUSED). Set REDIS_URL, or start one with npm run dev.\n',
      });
    },
  );

  it('explains that a node of a cluster is named as one server', async () => {
    const shards = await startRedisShards(2);
    try {
      // The keys are on the other node.
      await expect(tollgate(['keys', 'list'], { REDIS_URL: shards.servers[0]!.url })).rejects.toMatchObject({
        ...NOT_DONE,
        stderr: expect.stringMatching(/^This Redis is a node of a cluster\. Put redis\+cluster:/),
      });
    } finally {
      await shards.stop();
    }
  });
});

describe('dist/tollgate.js', () => {
  it('loads nothing but commander until a command runs', () => {
    const imports = [...readFileSync('dist/tollgate.js', 'utf8').matchAll(/^import .*?from "([^"]+)";$/gm)];
    const packages = imports
      .map(([, name = '']) => name)
      .filter((name) => !builtinModules.includes(name.replace(/^node:/, '')));
    expect(packages).toEqual(['commander']);
  });

  it('runs a command', async () => {
    await expect(run('dist/tollgate.js', ['payments', 'list', '--redis', 'redis://127.0.0.1:9'])).rejects.toMatchObject(
      {
        ...NOT_DONE,
        stderr: expect.stringMatching(/^Redis did not answer \(ECONNREFUSED\)/),
      },
    );
  });

  it('ends in silence when the reader of its output is gone', async () => {
    const script = '{ sleep 0.5; node dist/tollgate.js payments --help; echo "code $?" >&2; } | true';
    expect(await run('sh', ['-c', script])).toEqual({ stdout: '', stderr: 'code 0\n' });
  });

  // Prevents: a list on a full disk lacks its end, and nothing says so.
  it.each([
    ['is a full disk', 'node dist/tollgate.js payments --help > /dev/full', 'ENOSPC'],
    ['has room for a part of it', 'ulimit -f 1; node dist/tollgate.js --help > "$0"', 'EFBIG'],
  ])('says so, and is not done, when its output %s', async (_case, script, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-output-'));
    try {
      await expect(run('bash', ['-c', script, join(folder, 'output')])).rejects.toMatchObject({
        code: 1,
        stderr: `stdout cannot be written (${code}).\n`,
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
