import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setup } from './setup.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));
// With an endpoint of one's own nothing but the packages is needed.
await setup({ onlyPackages: Boolean(process.env.RPC_URL) }).catch(() => process.exit(1));
const { register } = await import('tsx/esm/api');
register();
const { runDevnetChat } = await import('../devnet/chat.ts');
process.exit(await runDevnetChat(process.argv.slice(2)));
