import { Journal, JournalError, RELAYER_FLEET } from '@tollgate/transactions';

import { WalletDirectory } from '../wallet-directory.js';
import { findRpcUrls } from './find-place.js';
import { formatWallets, toJson } from './format-wallets.js';
import { readWalletStates } from './read-wallet-states.js';
import { releaseAccount, type AccountParts } from './release-account.js';
import {
  CommandError,
  FLAG,
  HELP_FLAG,
  readArguments,
  refuseMoreThan,
  runCommand,
  TEXT,
  UsageError,
  withRedis,
} from './run-command.js';
import { adoptWallet, pauseWallet, removeWallet, resumeWallet, thawWallet } from './wallet-commands.js';

const HELP = `Looks after the accounts that agent workers and relayers send from. It needs no key.

  npm run wallets -- list                        [--json]   balance, nonces, open jobs and what holds each wallet up
  npm run wallets -- adopt <name> [--address <0x…>]         seeds the nonces from the chain; once, before the first job.
                                                            Again after "frozen: the chain has transactions …": first
                                                            find out who else signs for the wallet
  npm run wallets -- pause <name> [--reason <text>]         no new transaction begins; what is in flight goes on
  npm run wallets -- resume <name>                          ends a pause
  npm run wallets -- thaw <name>                            compares a wallet that Redis's restart has frozen with the
                                                            chain; a worker that holds it does so by itself
  npm run wallets -- remove <name> [--force]                forgets which account the name stands for
  npm run wallets -- release <name|0x…> [--cancel] [--yes]  ends the account's role as a wallet or a relayer, so that it may
                                                            have another; says what it would do, and with --yes does
                                                            it. Refused while anything of it has not ended

  --address  of a wallet that no worker has published yet
  --force    although the wallet has open jobs
  --cancel   cancels jobs of the account that have not begun, and that nobody can begin without its key
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
  cancel: FLAG,
  yes: FLAG,
  help: HELP_FLAG,
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

async function main(): Promise<string> {
  const { values, positionals } = readArguments(process.argv.slice(2), OPTIONS);
  if (values.help || positionals.length === 0) return HELP;
  // What was typed wrong is found before Redis is asked.
  const work = findWork(positionals, values);
  const rpcUrls = findRpcUrls(values.rpc);
  return withRedis(values.redis, async (redis) => {
    const journal = new Journal({ redis });
    await journal.open();
    // Not opened: what it keeps of a relayer's jobs is for the verifiers to say.
    const relayers = new Journal({ redis, fleet: RELAYER_FLEET });
    return work({ journal, relayers, directory: new WalletDirectory(redis), rpcUrls });
  }).catch(explain);
}

function findWork(words: string[], values: Values): (parts: AccountParts) => Promise<string> {
  const [command = '', name] = words;
  refuseMoreThan(command === 'list' ? 1 : 2, words);
  if (command === 'list') return (parts) => list(parts, values.json ?? false);
  const change = findChange(command, values);
  if (name === undefined) throw new UsageError(`${command} needs the name of a wallet`);
  return (parts) => change(parts, name);
}

function findChange(command: string, values: Values): (parts: AccountParts, name: string) => Promise<string> {
  switch (command) {
    case 'adopt':
      return (parts, name) => adoptWallet(parts, name, values.address);
    case 'pause':
      return (parts, name) => pauseWallet(parts, name, values.reason ?? 'An operator has paused the wallet.');
    case 'resume':
      return resumeWallet;
    case 'thaw':
      return thawWallet;
    case 'remove':
      return (parts, name) => removeWallet(parts, name, values.force ?? false);
    case 'release':
      return (parts, name) =>
        releaseAccount(parts, name, { cancels: values.cancel ?? false, isMeant: values.yes ?? false });
    default:
      throw new UsageError(`there is no command ${command}`);
  }
}

async function list(parts: AccountParts, isJson: boolean): Promise<string> {
  const wallets = await readWalletStates(parts, parts.rpcUrls);
  if (isJson) return toJson(wallets);
  return wallets.length === 0
    ? 'No agent worker has published a wallet yet, and no verifier a relayer.'
    : formatWallets(wallets);
}

function explain(error: unknown): never {
  throw error instanceof JournalError ? new CommandError(`${error.message} ${error.hint}`) : error;
}

await runCommand(HELP, main);
