import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

const RED = 'test/harness/jest/red';

interface Place {
  frame: string;
  /** How the line stands in the frame of code around it. */
  marked: string;
  text: string;
}

/** Where the only line with this text stands in a file. */
function at(file: string, text: string): Place {
  const lines = readFileSync(file, 'utf8').split('\n');
  const [found, ...others] = lines.filter((line) => line.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`${file} must have one line with ${text}`);
  const line = lines.indexOf(found) + 1;
  return { frame: `${file}:${line}`, marked: `> ${line} | ${found}\n`, text: found };
}

/** File and line of each frame of TypeScript. */
function framesIn(output: string): string[] {
  const frames = output.matchAll(/^ +at (?:async |.* \()?([^\s()]+\.ts):(\d+):\d+\)?$/gm);
  return [...frames].map(([, path, line]) => `${relative('', resolve(path!))}:${line}`);
}

function run(...args: string[]): string {
  const env = { ...process.env, FORCE_COLOR: '0', PAY_TO: 'nobody' };
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return `${stdout}${stderr}`;
}

const THROWN = at(`${RED}/till.ts`, 'throw new Error');
const TAKEN_LATER = at(`${RED}/till.ts`, 'return this.take(order)');
const inTest = (text: string): Place => at(`${RED}/till.red.ts`, text);

/** Jest's report has the frames of the reason before its own. */
const NAMELESS = inTest(".rejects.toThrow('no tea')");

describe('the report of a test file that fails, compiled to other lines', () => {
  let report: string;

  beforeAll(() => {
    const only = ['--rootDir', '.', '--roots', RED, '--testMatch', '**/*.red.ts'];
    report = run('node_modules/jest/bin/jest.js', '--config', 'jest.config.cjs', ...only);
  });

  it.each([
    ['fails at an expectation', [inTest('expect(new Till(1n)')]],
    ['fails in a module', [THROWN, inTest(' till.take(')]],
    ['fails in a module after a wait', [THROWN, TAKEN_LATER, inTest('  await till.takeLater')]],
    ['fails at a rejection', [inTest('.resolves.toBe(1n)')]],
    ['fails in a function without a name', [THROWN, TAKEN_LATER, NAMELESS, NAMELESS]],
    ['whose hook fails › is not run', [THROWN, inTest('new Till(9n).take')]],
  ])('has file, line and frame of: %s', (name, places) => {
    const [failure] = report.split(`  ● a red file › ${name}\n`)[1]!.split('  ● ');
    expect(framesIn(failure!)).toEqual(places.map(({ frame }) => frame));
    expect(failure).toContain(places[0]!.marked);
  });
});

describe('what a process that fails prints', () => {
  // The second time its compiled code is in the cache.
  it.each([
    ['scripts/typescript.cjs', ['scripts/typescript.cjs']],
    ['scripts/typescript.cjs, again', ['scripts/typescript.cjs']],
    ['tsx', ['--import', 'tsx']],
  ])('has file, line and text of the error under %s', (_name, args) => {
    const output = run(...args, `${RED}/sell.ts`);
    expect(framesIn(output)).toEqual([THROWN.frame, at(`${RED}/sell.ts`, 'new Till(5n)').frame]);
    expect(output).toContain(`${resolve(THROWN.frame)}\n${THROWN.text}\n`);
  });

  it('has file and line of the sources in a built service', () => {
    const get = `(env, name) => { if (name === 'PAY_TO') throw new Error('unreadable'); return env[name]; }`;
    const preload = `data:text/javascript,process.env = new Proxy(process.env, { get: ${get} });`;
    const output = run('--enable-source-maps', '--import', preload, 'dist/apps/verifier/main.js');
    expect(framesIn(output)).toContain(at('apps/verifier/src/start-verifier.ts', 'readEnvironment(').frame);
  });
});
