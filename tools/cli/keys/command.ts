import { parseList, type CliCommand } from '../shared/cli-command.js';
import type { CreateOptions, KeyOptions, LimitOptions } from './keys.js';

const LIMIT =
  'comma separated: options of PAYMENTS_FILE by name (without the file: default) and chains as eip155:<id>, ' +
  'whose payments the facilitator takes with this key; "*" stands for all';

/** `tollgate keys` */
export function defineKeys(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./keys.js');
  const keys = program.command('keys').summary('API keys: create, list, limit and revoke them');
  keys.description('Manages the API keys with which clients submit agent jobs and have payments settled.').addHelpText(
    'after',
    `
The enqueue secret of a key signs jobs that a service puts into the queue itself. It is derived from AGENT_SECRET (or the
file AGENT_SECRET_FILE), which must be the agent workers' own.`,
  );

  keys
    .query('create', 'Creates a key. Its token is shown this once.')
    .requiredOption('--name <name>', 'a name, for people')
    .requiredOption(
      '--scope <scopes>',
      'comma separated: submit (submits jobs), read (reads its own), operator (sees all jobs, approves, manages ' +
        'queues), settle (has payments settled by the facilitator), operator:read, operator:refund, operator:approve, ' +
        'operator:wallets (the operator API of the bookkeeper)',
      parseList,
    )
    .option(
      '--wallet <name>',
      'a wallet that it may use; may be repeated; "*" stands for all (default: the only wallet there is, else main; none for settle and operator:…)',
      (name: string, earlier: readonly string[] = []) => [...earlier, name],
    )
    .option('--accepts <names>', `${LIMIT} (default: all of the facilitator's, for settle)`, parseList)
    .example('keys create --name shop --scope submit,read --wallet treasury')
    .answers(async (options: CreateOptions) => (await load()).createKey(options, env));

  keys
    .query('list', 'Lists all keys, oldest first.')
    .example('keys list')
    .answers(async (options: KeyOptions) => (await load()).listKeys(options, env));

  keys
    .query('limit', 'Changes what the facilitator takes with a key, from the next request on.')
    .argument('<id>', 'id of the key: the 12 characters after tgk_')
    .requiredOption('--accepts <names>', LIMIT, parseList)
    .example('keys limit 1a2b3c4d5e6f --accepts default')
    .answers(async (id: string, options: LimitOptions) => (await load()).limitKey(id, options, env));

  keys
    .query('revoke', 'Revokes a key, at once and for good.')
    .argument('<id>', 'id of the key: the 12 characters after tgk_')
    .example('keys revoke 1a2b3c4d5e6f')
    .answers(async (id: string, options: KeyOptions) => (await load()).revokeKey(id, options, env));

  keys
    .query('secret', "Shows a key's enqueue secret again.")
    .argument('<id>', 'id of the key: the 12 characters after tgk_')
    .example('keys secret 1a2b3c4d5e6f', 'AGENT_SECRET_FILE=.tollgate/agent-secret ')
    .answers(async (id: string, options: KeyOptions) => (await load()).showSecret(id, options, env));
}
