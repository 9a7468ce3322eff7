import { loadWhenReady } from './load-when-ready.mjs';

// With an endpoint of one's own nothing but the packages is needed; a devnet's services run from their sources.
const { runDevnetChat } = await loadWhenReady('devnet/chat.ts', {
  onlyPackages: Boolean(process.env.RPC_URL),
  needsServices: false,
});
process.exit(await runDevnetChat(process.argv.slice(2)));
