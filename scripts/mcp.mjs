// npm run mcp --silent: the agent kit's MCP server on stdin and stdout. Clients may start `node scripts/mcp.mjs` too.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setup } from './setup.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));
// stdout belongs to the protocol, so the output of an installation goes to stderr.
const writeToStdout = process.stdout.write;
process.stdout.write = process.stderr.write.bind(process.stderr);
await setup({ onlyPackages: true }).catch(() => process.exit(1));
process.stdout.write = writeToStdout;
const { register } = await import('tsx/esm/api');
register();
process.argv.splice(2, 0, 'mcp');
await import('../tools/cli/main.ts');
