import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const RED = 'test/harness/jest/red';

/** The position of a line that is one of its kind in a file of the folder `red`. */
function at(file: string, text: string): { file: string; line: number; text: string } {
  const lines = readFileSync(join(RED, file), 'utf8').split('\n');
  const [found, ...others] = lines.filter((line) => line.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`${file} must have one line with ${text}`);
  return { file: join(RED, file), line: lines.indexOf(found) + 1, text: found };
}

/** File and line of each frame that is in the folder `red`. */
function framesIn(output: string): string[] {
  return [...output.matchAll(/^ +at .*?(test\/harness\/jest\/red\/\S+:\d+):\d+\)?$/gm)].map(([, frame]) => frame!);
}

function run(...args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '0' },
  });
  return `${stdout}${stderr}`;
}

const THROWN = at('till.ts', 'throw new Error');
const TAKEN_LATER = at('till.ts', 'return this.take(order)');

describe('the report of a test file that fails, compiled to other lines', () => {
  let report: string;

  beforeAll(() => {
    const only = ['--rootDir', '.', '--roots', RED, '--testMatch', '**/*.red.ts'];
    report = run('node_modules/jest/bin/jest.js', '--config', 'jest.config.cjs', ...only);
  });

  it.each([
    ['fails at an expectation', [at('till.red.ts', 'expect(new Till(1n)')]],
    ['fails in a module', [THROWN, at('till.red.ts', ' till.take(')]],
    ['fails in a module after a wait', [THROWN, TAKEN_LATER, at('till.red.ts', '  await till.takeLater')]],
    ['fails at a rejection', [at('till.red.ts', 'await expect(till.takeLater')]],
    ['whose hook fails › is not run', [THROWN, at('till.red.ts', 'new Till(9n).take')]],
  ])('has file, line and frame of: %s', (name, trace) => {
    const [, block] = report.split(`  ● a red file › ${name}\n`);
    const [failure] = block!.split('  ● ');
    expect(framesIn(failure!)).toEqual(trace.map(({ file, line }) => `${file}:${line}`));
    expect(failure).toContain(`> ${trace[0]!.line} | ${trace[0]!.text}\n`);
  });
});

describe('what a process that fails prints, compiled to other lines', () => {
  const trace = [THROWN, at('sell.ts', 'new Till(5n)')];

  // The second time its compiled code is in the cache.
  it.each([
    ['scripts/typescript.cjs', ['scripts/typescript.cjs']],
    ['scripts/typescript.cjs, again', ['scripts/typescript.cjs']],
    ['tsx', ['--import', 'tsx']],
  ])('has file, line and frame of the error: %s', (_name, args) => {
    const output = run(...args, join(RED, 'sell.ts'));
    expect(framesIn(output)).toEqual(trace.map(({ file, line }) => `${file}:${line}`));
    expect(output).toContain(`${resolve(THROWN.file)}:${THROWN.line}\n${THROWN.text}\n`);
  });
});
