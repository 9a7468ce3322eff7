import {
  AgentEnvironment,
  API_KEY_SCOPES,
  ApiKeyStore,
  ConfigurationError,
  readEnvironment,
  type ApiKey,
  type ApiKeyScope,
} from '@tollgate/common';

import { deriveEnqueueSecret } from '../agent-secrets.js';
import { formatTable, formatTime } from './format-table.js';
import {
  CommandError,
  FLAG,
  HELP_FLAG,
  readArguments,
  refuseMoreThan,
  TEXT,
  UsageError,
  withRedis,
} from './run-command.js';

export const KEYS_HELP = `Looks after the API keys that agent jobs are submitted with, and payments settled.

  npm run keys -- create --name <name> --scope <scope,…> [--wallet <name> …] [--json]   the token is shown this once
  npm run keys -- list                                                       [--json]   all keys, oldest first
  npm run keys -- revoke <id>                                                           at once, and for good
  npm run keys -- secret <id>                                                [--json]   the key's enqueue secret again

  --name     what people call it
  --scope    submit (hands in jobs), read (looks at its own), operator (sees all jobs, approves, looks after queues),
             settle (has payments settled by the facilitator)
  --wallet   which it may use; may be given several times; default main, none for settle alone; "*" stands for all
  --redis    the journal's Redis; default REDIS_URL, else that of a running npm run dev, else redis://127.0.0.1:6379

The enqueue secret signs jobs that a service puts into the queue itself. It is derived from AGENT_SECRET (or the file
AGENT_SECRET_FILE), which must be the agent workers' own.
`;

const OPTIONS = {
  name: TEXT,
  scope: { ...TEXT, multiple: true },
  wallet: { ...TEXT, multiple: true },
  redis: TEXT,
  json: FLAG,
  help: HELP_FLAG,
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Carries out what was typed; answers what is printed.
 * @throws UsageError, CommandError
 */
export async function runKeys(args: string[], env: Environment): Promise<string> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [command, id] = positionals;
  if (values.help || command === undefined) return KEYS_HELP;
  refuseMoreThan(['revoke', 'secret'].includes(command) ? 2 : 1, positionals);
  const isJson = values.json ?? false;
  const work = (): ((store: ApiKeyStore) => Promise<string>) => {
    switch (command) {
      case 'create':
        return create(
          { name: values.name ?? '', scopes: parseScopes(values.scope), wallets: values.wallet },
          { agentSecret: readAgentSecret(env), isJson },
        );
      case 'list':
        return (store) => list(store, isJson);
      case 'revoke':
        return (store) => revoke(store, requireId(command, id));
      case 'secret':
        return (store) => showSecret(store, requireId(command, id), { agentSecret: readAgentSecret(env), isJson });
      default:
        throw new UsageError(`there is no command ${command}`);
    }
  };
  // What was typed wrong is found before Redis is asked.
  const run = work();
  return withRedis(values.redis, (redis) => run(new ApiKeyStore(redis)));
}

function create(
  {
    name,
    scopes,
    wallets = scopes.every((scope) => scope === 'settle') ? [] : ['main'],
  }: { name: string; scopes: ApiKeyScope[]; wallets: string[] | undefined },
  { agentSecret, isJson }: { agentSecret: string | null; isJson: boolean },
): (store: ApiKeyStore) => Promise<string> {
  return async (store) => {
    const { key, token } = await store.create({ name, scopes, wallets }).catch((error: unknown) => {
      throw error instanceof TypeError ? new UsageError(error.message) : error;
    });
    const maySubmit = scopes.includes('submit');
    const enqueueSecret = maySubmit && agentSecret !== null ? deriveEnqueueSecret(agentSecret, key.id) : null;
    if (isJson) return JSON.stringify({ ...describe(key), token, enqueueSecret }, null, 2);
    const secret = maySubmit
      ? (enqueueSecret ?? `AGENT_SECRET is not set here; with it, npm run keys -- secret ${key.id} shows it`)
      : null;
    return formatTable(
      ['KEY', `${key.id} (${key.name})`],
      [
        ['scopes', key.scopes.join(', ')],
        ['wallets', key.wallets.join(', ') || '-'],
        ['token', `${token}   shown now and never again`],
        ...(secret === null ? [] : [['enqueue secret', secret]]),
      ],
    );
  };
}

async function list(store: ApiKeyStore, isJson: boolean): Promise<string> {
  const { keys, unreadable } = await store.list();
  if (isJson) return JSON.stringify({ keys: keys.map(describe), unreadable }, null, 2);
  const table = formatTable(
    ['KEY', 'NAME', 'SCOPES', 'WALLETS', 'CREATED', 'STATE'],
    keys.map(({ id, name, scopes, wallets, createdAtMs, revokedAtMs }) => [
      ...[id, name, scopes.join(','), wallets.join(',') || '-', formatTime(createdAtMs)],
      revokedAtMs === null ? 'valid' : `revoked ${formatTime(revokedAtMs)}`,
    ]),
  );
  const damaged = unreadable.map((id) => `${JSON.stringify(id)} cannot be read; nobody gets in by it.`);
  return [keys.length === 0 ? 'There is no API key.' : table, ...damaged].join('\n');
}

async function revoke(store: ApiKeyStore, id: string): Promise<string> {
  if (!(await store.revoke(id))) throw new CommandError(`There is no key ${id}.`);
  return `${id} is revoked: nothing new is taken from it. Its open jobs go on; npm run jobs -- cancel ends one.`;
}

async function showSecret(
  store: ApiKeyStore,
  id: string,
  { agentSecret, isJson }: { agentSecret: string | null; isJson: boolean },
): Promise<string> {
  if (agentSecret === null)
    throw new CommandError(
      'AGENT_SECRET is not set. Set it, or AGENT_SECRET_FILE, to that of the agent workers (npm run dev: agent-secret in TOLLGATE_STATE_DIR, which is .tollgate unless set).',
    );
  const key = await store.read(id);
  if (key === null) throw new CommandError(`There is no key ${id}.`);
  if (key.revokedAtMs !== null) throw new CommandError(`${id} is revoked.`);
  if (!key.scopes.includes('submit')) throw new CommandError(`${id} has not the scope submit.`);
  const enqueueSecret = deriveEnqueueSecret(agentSecret, id);
  return isJson ? JSON.stringify({ id, enqueueSecret }, null, 2) : enqueueSecret;
}

function describe({ createdAtMs, revokedAtMs, ...key }: ApiKey) {
  const revokedAt = revokedAtMs === null ? null : new Date(revokedAtMs).toISOString();
  return { ...key, createdAt: new Date(createdAtMs).toISOString(), revokedAt };
}

/** Null where it is not set. */
function readAgentSecret(env: Environment): string | null {
  if (!env['AGENT_SECRET'] && !env['AGENT_SECRET_FILE']) return null;
  try {
    return readEnvironment(AgentEnvironment, env).agentSecret;
  } catch (error) {
    throw error instanceof ConfigurationError ? new CommandError(error.message) : error;
  }
}

function parseScopes(texts: readonly string[] | undefined): ApiKeyScope[] {
  const words = (texts ?? []).flatMap((text) => text.split(',')).map((word) => word.trim());
  const scopes = API_KEY_SCOPES.filter((scope) => words.includes(scope));
  const strange = words.filter((word) => !(API_KEY_SCOPES as readonly string[]).includes(word));
  if (strange.length > 0 || scopes.length === 0) {
    throw new UsageError(`--scope must be one or more of ${API_KEY_SCOPES.join(', ')}`);
  }
  return scopes;
}

function requireId(command: string, id: string | undefined): string {
  if (id === undefined) throw new UsageError(`${command} needs the id of a key`);
  if (id.startsWith('tgk_')) throw new UsageError(`${command} takes the id of a key, the 12 characters after tgk_`);
  return id;
}
