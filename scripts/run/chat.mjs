import { loadWhenReady } from '../load-when-ready.mjs';

// With RPC_URL set only the packages are needed; without it, the services of the devnet run from their sources.
const { runDevnetChat } = await loadWhenReady('tools/devnet/chat.ts', {
  onlyPackages: Boolean(process.env.RPC_URL),
  needsServices: false,
});
process.exit(await runDevnetChat(process.argv.slice(2)));
