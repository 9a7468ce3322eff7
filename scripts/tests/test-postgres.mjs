// npm run test:postgres: the specs of the book on a PostgreSQL server, as an unprivileged role, with what they need set up
// before. It installs Debian's postgresql where there is none and this user may.
import { createRequire } from 'node:module';

import { setup } from '../setup.mjs';
import { runJest } from './run-jest.mjs';

await setup({ needsRedisServer: true, needsPostgres: true, needsCrashPoints: true });
const require = createRequire(import.meta.url);
require('../typescript.cjs');
const { startPostgres } = require('../../tools/devnet/processes/postgres.ts');
const server = await startPostgres();
const args = ['--config', 'test/postgres/jest.config.cjs', '--maxWorkers=2', ...process.argv.slice(2)];
try {
  process.exitCode = await runJest(args, { TEST_DATABASE_URL: server.url });
} finally {
  await server.stop();
}
