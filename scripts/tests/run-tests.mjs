import { setup } from '../setup.mjs';
// npm test, npm run test:stack, npm run test:pages, npm run test:cluster and npm run test:interop: Jest, with what its tests need set up before.
import { runJest } from './run-jest.mjs';

const SLOWEST = ['--reporters=default', '--reporters=./test/harness/jest/slowest-files.cjs'];
// One stack serves all tests of the pages. Elsewhere more than the two cores of the usual machine: most tests wait for servers that they have started.
const areInOneProcess = process.argv.includes('test/pages/jest.config.cjs');
const args = [
  `--maxWorkers=${areInOneProcess ? 1 : 4}`,
  ...process.argv.slice(2).flatMap((arg) => (arg === '--slowest' ? SLOWEST : arg)),
];

await setup({
  needsRedisServer: true,
  needsClusters: args.includes('test/cluster/jest.config.cjs'),
  needsChromium: areInOneProcess,
  needsCrashPoints: args.includes('test/jest.config.cjs'),
  needsPublished: args.includes('test/interop/jest.config.cjs'),
});
process.exitCode = await runJest(args);
