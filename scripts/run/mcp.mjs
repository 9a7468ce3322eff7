// npm run mcp --silent: the agent kit's MCP server on stdin and stdout. Clients may start `node scripts/run/mcp.mjs` too.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { setup } from '../setup.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..', '..'));
// stdout belongs to the protocol, so the output of an installation goes to stderr.
const writeToStdout = process.stdout.write;
process.stdout.write = process.stderr.write.bind(process.stderr);
await setup({ onlyPackages: true });
process.stdout.write = writeToStdout;
process.argv.splice(2, 0, 'mcp');
const require = createRequire(import.meta.url);
require('../typescript.cjs');
require('../../tools/cli/main.ts');
