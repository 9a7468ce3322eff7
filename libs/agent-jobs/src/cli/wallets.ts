import { Journal, JournalError } from '@tollgate/transactions';

import { WalletDirectory } from '../wallet-directory.js';
import { findRpcUrls } from './find-place.js';
import { formatWallets, toJson } from './format-wallets.js';
import { readWalletStates } from './read-wallet-states.js';
import {
  CommandError,
  FLAG,
  HELP_FLAG,
  readArguments,
  runCommand,
  TEXT,
  UsageError,
  withRedis,
} from './run-command.js';
import {
  adoptWallet,
  pauseWallet,
  removeWallet,
  resumeWallet,
  thawWallet,
  type WalletParts,
} from './wallet-commands.js';

const HELP = `Looks after the wallets that agent workers sign for. It needs no key.

  npm run wallets -- list                        [--json]   balance, nonces, open jobs and what holds each wallet up
  npm run wallets -- adopt <name> [--address <0x…>]         seeds the nonces from the chain; once, before the first job.
                                                            Again after "frozen: the chain has transactions …": first
                                                            find out who else signs for the wallet
  npm run wallets -- pause <name> [--reason <text>]         no new transaction begins; what is in flight goes on
  npm run wallets -- resume <name>                          ends a pause
  npm run wallets -- thaw <name>                            compares a wallet that Redis's restart has frozen with the
                                                            chain; a worker that holds it does so by itself
  npm run wallets -- remove <name> [--force]                forgets which account the name stands for

  --address  of a wallet that no worker has published yet
  --force    although the wallet has open jobs
  --redis    the journal's Redis; default REDIS_URL, else that of a running npm run dev, else redis://127.0.0.1:6379
  --rpc      the chain's RPC servers, comma separated; default RPC_URL, else that of a running npm run dev
`;

const OPTIONS = {
  address: TEXT,
  reason: TEXT,
  redis: TEXT,
  rpc: TEXT,
  json: FLAG,
  force: FLAG,
  help: HELP_FLAG,
} as const;

async function main(): Promise<string> {
  const { values, positionals } = readArguments(process.argv.slice(2), OPTIONS);
  const [command, name] = positionals;
  if (values.help || command === undefined) return HELP;
  const rpcUrls = findRpcUrls(values.rpc);
  return withRedis(values.redis, async (redis) => {
    const journal = new Journal({ redis });
    await journal.open();
    const parts: WalletParts = { journal, directory: new WalletDirectory(redis), rpcUrls };
    if (command === 'list') return list(parts, values.json ?? false);
    if (name === undefined) throw new UsageError(`${command} needs the name of a wallet`);
    switch (command) {
      case 'adopt':
        return adoptWallet(parts, name, values.address);
      case 'pause':
        return pauseWallet(parts, name, values.reason ?? 'An operator has paused the wallet.');
      case 'resume':
        return resumeWallet(parts, name);
      case 'thaw':
        return thawWallet(parts, name);
      case 'remove':
        return removeWallet(parts, name, values.force ?? false);
      default:
        throw new UsageError(`there is no command ${command}`);
    }
  }).catch(explain);
}

async function list(parts: WalletParts, isJson: boolean): Promise<string> {
  const wallets = await readWalletStates(parts, parts.rpcUrls);
  if (isJson) return toJson(wallets);
  return wallets.length === 0 ? 'No agent worker has published a wallet yet.' : formatWallets(wallets);
}

function explain(error: unknown): never {
  throw error instanceof JournalError ? new CommandError(`${error.message} ${error.hint}`) : error;
}

await runCommand(HELP, main);
