// npm test and npm run test:stack: Jest, with what its tests need set up before.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { setup } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const SLOWEST = ['--reporters=default', '--reporters=./test/harness/jest/slowest-files.cjs'];
// More than the two cores of the usual machine: most tests wait for servers that they have started.
const args = ['--maxWorkers=4', ...process.argv.slice(2).flatMap((arg) => (arg === '--slowest' ? SLOWEST : arg))];

await setup({ needsRedisServer: true });
const jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], { cwd: root, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => jest.kill(signal));
jest.on('close', (code, signal) => {
  process.exitCode = signal === null ? code : 1;
});
