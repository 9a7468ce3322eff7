import { InvalidArgumentError } from 'commander';

import { rpcOption, type CliCommand, type CommandResult } from '../shared/cli-command.js';
import type { AccountParts } from './release-account.js';
import type { WalletQuery } from './wallets.js';

/** `tollgate wallets` */
export function defineWallets(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./wallets.js');
  const wallets = program.command('wallets').summary('accounts that agent workers and relayers send from');
  wallets.description('Manages the accounts that agent workers and relayers send from. It needs no key.');
  const run = async (
    options: WalletQuery,
    work: (actions: typeof import('./wallets.js'), parts: AccountParts) => Promise<CommandResult | string>,
  ): Promise<CommandResult | string> => {
    const actions = await load();
    return actions.withAccounts(options, env, (parts) => work(actions, parts));
  };
  const query = (name: string, description: string): CliCommand =>
    wallets.query(name, description).addOption(rpcOption());
  const change = (name: string, description: string): CliCommand =>
    query(name, description).argument('<name>', 'name of the wallet');

  query('list', 'Lists balance, nonces, open jobs, and why a wallet does not continue.')
    .example('wallets list')
    .answers(async (options: WalletQuery) => (await load()).listWallets(options, env));

  change(
    'adopt',
    'Seeds the nonces from the chain, before the first job and after "frozen: the chain has transactions …". First find ' +
      'out who else signs for the wallet.',
  )
    .option('--address <0x…>', 'of a wallet that no worker has published yet', parseAddress)
    .example('wallets adopt treasury')
    .answers((name: string, options: WalletQuery & { address?: string }) =>
      run(options, (actions, parts) => actions.adoptWallet(parts, name, options.address)),
    );

  change('pause', 'Begins no new transaction; those in flight continue.')
    .option('--reason <text>', 'the reason that list shows', 'An operator has paused the wallet.')
    .example("wallets pause treasury --reason 'audit'")
    .answers((name: string, options: WalletQuery & { reason: string }) =>
      run(options, (actions, parts) => actions.pauseWallet(parts, name, options.reason)),
    );

  change('resume', 'Ends a pause.')
    .example('wallets resume treasury')
    .answers((name: string, options: WalletQuery) =>
      run(options, (actions, parts) => actions.resumeWallet(parts, name)),
    );

  change(
    'thaw',
    'After a restart of Redis: compares a frozen wallet with the chain. Where Redis lost writes, run it twice, a minute ' +
      'and five blocks apart. A worker that holds the wallet does so itself.',
  )
    .example('wallets thaw treasury')
    .answers((name: string, options: WalletQuery) => run(options, (actions, parts) => actions.thawWallet(parts, name)));

  change(
    'fill',
    'Fills the missing nonce that a wallet waits for, by a transfer of 0 to itself. Without --yes it only prints what ' +
      'that would cancel.',
  )
    .option('--nonce <n>', 'only if it is this one', parseNonce)
    .option('--yes', 'do it')
    .example('wallets fill treasury --nonce 41 --yes')
    .answers((name: string, options: WalletQuery & { nonce?: number; yes?: true }) =>
      run(options, (actions, parts) =>
        actions.fillWallet(parts, name, { nonce: options.nonce, isMeant: options.yes ?? false }),
      ),
    );

  change('remove', 'Removes the name of an account; its jobs and nonces stay.')
    .option('--force', 'even if the wallet has open jobs')
    .example('wallets remove treasury')
    .answers((name: string, options: WalletQuery & { force?: true }) =>
      run(options, (actions, parts) => actions.removeWallet(parts, name, options.force ?? false)),
    );

  query(
    'release',
    "Ends the account's role as a wallet or a relayer, so that it may have another. Without --yes it only prints what " +
      'it would do. Refused while the account has open jobs, transactions or unread events.',
  )
    .argument('<name|0x…>', 'name of the wallet, or an address')
    .option('--cancel', 'first cancel the jobs of the account that have not begun')
    .option('--yes', 'do it')
    .example('wallets release treasury --yes')
    .answers((name: string, options: WalletQuery & { cancel?: true; yes?: true }) =>
      run(options, (actions, parts) =>
        actions.releaseAccount(parts, name, { cancels: options.cancel ?? false, isMeant: options.yes ?? false }),
      ),
    );
}

function parseNonce(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function parseAddress(text: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text;
  throw new InvalidArgumentError('It must be 0x and 40 hexadecimal digits.');
}
