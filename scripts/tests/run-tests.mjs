// npm test, npm run test:stack, npm run test:pages, npm run test:cluster and npm run test:interop: Jest, with what its tests need set up before.
import { readFileSync } from 'node:fs';

import { PROXY_PROGRAMS, setup, TEST_PROGRAMS } from '../setup.mjs';
import { runJest } from './run-jest.mjs';

/** Options of our own, and the reporter that each adds. */
const REPORTERS = { '--slowest': 'slowest-files', '--record-times': 'record-seconds' };
const REVERSED = '--reversed';
/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

const given = process.argv.slice(2);
const reporters = given.flatMap((arg) => REPORTERS[arg] ?? []).map((name) => `./test/harness/jest/${name}.cjs`);
// Each worker of the pages has a stack and a browser. Elsewhere more than the two cores of the usual machine: most tests wait for servers that they have started.
const arePages = given.includes('test/pages/jest.config.cjs');
const areStacks = given.includes('test/jest.config.cjs');
const args = [
  `--maxWorkers=${arePages ? 2 : 5}`,
  ...given.filter((arg) => REPORTERS[arg] === undefined && arg !== REVERSED),
  // The last, since Jest takes a path after it for one more reporter.
  ...(reporters.length > 0 ? ['default', ...reporters].map((name) => `--reporters=${name}`) : []),
];

await setup({
  needsRedisServer: true,
  // Its specs beside the code have one for the oldest Redis.
  needsRedis70: !args.includes('--config'),
  needsPrograms: areStacks ? [...TEST_PROGRAMS, ...PROXY_PROGRAMS] : TEST_PROGRAMS,
  needsChromium: arePages,
  needsCrashPoints: areStacks,
  needsPublished: args.includes('test/interop/jest.config.cjs'),
});
process.exitCode = await runJest(args, given.includes(REVERSED) ? { TEST_ORDER: 'reversed' } : {});
const cpuTime = describeCpuTime();
if (cpuTime !== undefined) process.stderr.write(`${cpuTime}\n`);

/**
 * CPU time of this process and of all that it started, in a line; undefined on a system without /proc. A process counts
 * once its parent has waited for it, as in `time` of bash.
 */
function describeCpuTime() {
  let stat;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The name, in brackets, may hold spaces. After it: utime, stime, cutime and cstime are the 12th to the 15th.
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  const [user, system] = [ticks[0] + ticks[2], ticks[1] + ticks[3]].map((sum) => sum / TICKS_PER_SECOND);
  return `CPU: ${(user + system).toFixed(0)} s (user ${user.toFixed(0)} s, system ${system.toFixed(0)} s)`;
}
