// npm test, npm run test:stack, npm run test:cluster and npm run test:interop: Jest, with what its tests need set up before.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedisServer, OLDEST_FOR_CLUSTERS } from './find-redis-server.mjs';
import { runJest } from './run-jest.mjs';
import { setup } from './setup.mjs';

const SLOWEST = ['--reporters=default', '--reporters=./test/harness/jest/slowest-files.cjs'];
// More than the two cores of the usual machine: most tests wait for servers that they have started.
const args = ['--maxWorkers=4', ...process.argv.slice(2).flatMap((arg) => (arg === '--slowest' ? SLOWEST : arg))];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (args.includes('test/cluster/jest.config.cjs') && !findRedisServer(root, OLDEST_FOR_CLUSTERS)) {
  process.stderr.write(
    `There is no valkey-server or redis-server of version ${OLDEST_FOR_CLUSTERS} or newer on the PATH.\n` +
      'Install Valkey: `apt-get install valkey-server` (Debian 13, Ubuntu 24.04), `brew install valkey`, or from https://valkey.io/download.\n',
  );
  process.exit(1);
}

await setup({
  needsRedisServer: true,
  needsCrashPoints: args.includes('test/jest.config.cjs'),
  needsPublished: args.includes('test/interop/jest.config.cjs'),
});
process.exitCode = await runJest(args);
