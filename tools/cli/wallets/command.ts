import { InvalidArgumentError } from 'commander';

import { rpcOption, type CliCommand, type Environment } from '../shared/cli-command.js';

export interface WalletOptions {
  redis?: string;
  rpc?: string;
}

/** `tollgate wallets` */
export function defineWallets(program: CliCommand, env: Environment): void {
  const load = () => import('./wallets.js');
  const wallets = program.command('wallets').summary('accounts that agent workers and relayers send from');
  wallets.description('Looks after the accounts that agent workers and relayers send from. It needs no key.');
  const query = (name: string, description: string): CliCommand =>
    wallets.query(name, description).addOption(rpcOption());
  const change = (name: string, description: string): CliCommand =>
    query(name, description).argument('<name>', 'name of the wallet');

  query('list', 'Lists balance, nonces, open jobs and what holds each wallet up.')
    .example('wallets list')
    .answers(async (options: WalletOptions) => (await load()).list(options, env));

  change(
    'adopt',
    'Seeds the nonces from the chain: once, before the first job, and again after "frozen: the chain has transactions …"; ' +
      'first find out who else signs for the wallet.',
  )
    .option('--address <0x…>', 'of a wallet that no worker has published yet', parseAddress)
    .example('wallets adopt treasury')
    .answers(async (name: string, options: WalletOptions & { address?: string }) =>
      (await load()).adopt(name, options, env),
    );

  change('pause', 'Begins no new transaction; what is in flight goes on.')
    .option('--reason <text>', 'what list shows', 'An operator has paused the wallet.')
    .example("wallets pause treasury --reason 'audit'")
    .answers(async (name: string, options: WalletOptions & { reason: string }) =>
      (await load()).pause(name, options, env),
    );

  change('resume', 'Ends a pause.')
    .example('wallets resume treasury')
    .answers(async (name: string, options: WalletOptions) => (await load()).resume(name, options, env));

  change(
    'thaw',
    "Compares a wallet that Redis's restart has frozen with the chain; a worker that holds it does so by itself.",
  )
    .example('wallets thaw treasury')
    .answers(async (name: string, options: WalletOptions) => (await load()).thaw(name, options, env));

  change('remove', 'Forgets which account the name stands for.')
    .option('--force', 'although the wallet has open jobs')
    .example('wallets remove treasury')
    .answers(async (name: string, options: WalletOptions & { force?: true }) =>
      (await load()).remove(name, options, env),
    );

  query(
    'release',
    "Ends the account's role as a wallet or a relayer, so that it may have another. Says what it would do, and with --yes " +
      'does it. Refused while anything of it has not ended.',
  )
    .argument('<name|0x…>', 'name of the wallet, or an address')
    .option('--cancel', 'cancel jobs of the account first that have not begun')
    .option('--yes', 'do it')
    .example('wallets release treasury --yes')
    .answers(async (name: string, options: WalletOptions & { cancel?: true; yes?: true }) =>
      (await load()).release(name, options, env),
    );
}

function parseAddress(text: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text;
  throw new InvalidArgumentError('It must be 0x and 40 hexadecimal digits.');
}
