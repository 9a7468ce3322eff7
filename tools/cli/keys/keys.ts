import { deriveEnqueueSecret, WalletDirectory } from '@tollgate/agent-jobs';
import { AgentEnvironment, ConfigurationError, hintAt, readEnvironment } from '@tollgate/config';
import { API_KEY_SCOPES, ApiKeyStore, needsNoWallet, type ApiKey, type ApiKeyScope } from '@tollgate/http';
import { caip2Of } from '@tollgate/protocol';
import type { RedisClient } from '@tollgate/redis';
import { isRefundsWallet } from '@tollgate/refunds';
import { InvalidArgumentError } from 'commander';

import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findConfiguredChains, readPaymentsFile } from '../shared/find-chain.js';
import { findRedisPlace } from '../shared/find-place.js';
import { formatTable, formatTime } from '../shared/format-table.js';
import { withRedis } from '../shared/with-redis.js';

export interface KeyOptions {
  redis?: string;
}

export interface CreateOptions extends KeyOptions {
  name: string;
  scope: string[];
  wallet?: string[];
  accepts?: string[];
}

export interface LimitOptions extends KeyOptions {
  accepts: string[];
}

export async function createKey(
  { name, scope, wallet, accepts, redis }: CreateOptions,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const scopes = parseScopes(scope);
  if (accepts !== undefined) assertKnown(accepts, env);
  const agentSecret = readAgentSecret(env);
  const { key, token } = await withRedis(findRedisPlace(redis, env), async (connection) => {
    const wallets = wallet ?? (scopes.every(needsNoWallet) ? [] : [await findOnlyWallet(connection)]);
    return new ApiKeyStore(connection).create({ name, scopes, wallets, ...(accepts !== undefined && { accepts }) });
  }).catch(blameArgument);
  const maySubmit = scopes.includes('submit');
  const enqueueSecret = maySubmit && agentSecret !== null ? deriveEnqueueSecret(agentSecret, key.id) : null;
  const secret = maySubmit
    ? (enqueueSecret ?? `set AGENT_SECRET and run tollgate keys secret ${key.id} to see it`)
    : null;
  return {
    json: { ...describe(key), token, enqueueSecret },
    text: formatTable(
      ['KEY', `${key.id} (${key.name})`],
      [
        ['scopes', key.scopes.join(', ')],
        ['wallets', key.wallets.join(', ') || '-'],
        ...(key.accepts.length > 0 ? [['accepts', key.accepts.join(', ')]] : []),
        ['token', `${token}   shown now and never again`],
        ...(secret === null ? [] : [['enqueue secret', secret]]),
      ],
    ),
  };
}

export async function listKeys({ redis }: KeyOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { keys, unreadable } = await withStore(redis, env, (store) => store.list());
  const table = formatTable(
    ['KEY', 'NAME', 'SCOPES', 'WALLETS', 'ACCEPTS', 'CREATED', 'STATE'],
    keys.map(({ id, name, scopes, wallets, accepts, createdAtMs, revokedAtMs }) => [
      ...[id, name, scopes.join(','), wallets.join(',') || '-', accepts.join(',') || '-', formatTime(createdAtMs)],
      revokedAtMs === null ? 'valid' : `revoked ${formatTime(revokedAtMs)}`,
    ]),
  );
  const damaged = unreadable.map((id) => `${JSON.stringify(id)} cannot be read; the gateway refuses it.`);
  return {
    json: { keys: keys.map(describe), unreadable },
    text: [keys.length === 0 ? 'There is no API key.' : table, ...damaged].join('\n'),
  };
}

export async function limitKey(id: string, { accepts, redis }: LimitOptions, env: NodeJS.ProcessEnv): Promise<string> {
  assertKeyId(id);
  assertKnown(accepts, env);
  const key = await withStore(redis, env, (store) => store.limit(id, accepts)).catch(blameArgument);
  if (key === null) throw new CommandError(`There is no key ${id}.`);
  return `${id} accepts ${key.accepts.join(', ')} from its next request on.`;
}

export async function revokeKey(id: string, { redis }: KeyOptions, env: NodeJS.ProcessEnv): Promise<string> {
  assertKeyId(id);
  if (!(await withStore(redis, env, (store) => store.revoke(id)))) throw new CommandError(`There is no key ${id}.`);
  return `${id} is revoked: its requests are refused from now on. Its open jobs continue; end one with tollgate jobs cancel.`;
}

export async function showSecret(id: string, { redis }: KeyOptions, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  assertKeyId(id);
  const agentSecret = readAgentSecret(env);
  if (agentSecret === null)
    throw new CommandError(
      'AGENT_SECRET is not set. Set it, or AGENT_SECRET_FILE, to that of the agent workers (npm run dev: agent-secret in TOLLGATE_STATE_DIR, which is .tollgate unless set).',
    );
  const key = await withStore(redis, env, (store) => store.read(id));
  if (key === null) throw new CommandError(`There is no key ${id}.`);
  if (key.revokedAtMs !== null) throw new CommandError(`${id} is revoked.`);
  if (!key.scopes.includes('submit')) throw new CommandError(`${id} does not have the scope submit.`);
  const enqueueSecret = deriveEnqueueSecret(agentSecret, id);
  return { json: { id, enqueueSecret }, text: enqueueSecret };
}

/** `npm run dev` has one wallet, `devnet`. */
async function findOnlyWallet(redis: RedisClient): Promise<string> {
  // Those of refunds take no jobs.
  const wallets = (await new WalletDirectory(redis).list()).filter(({ name }) => !isRefundsWallet(name));
  const [only, ...others] = wallets;
  return only !== undefined && others.length === 0 ? only.name : 'main';
}

function withStore<T>(
  redisUrl: string | undefined,
  env: NodeJS.ProcessEnv,
  work: (store: ApiKeyStore) => Promise<T>,
): Promise<T> {
  return withRedis(findRedisPlace(redisUrl, env), (redis) => work(new ApiKeyStore(redis)));
}

function describe({ createdAtMs, revokedAtMs, ...key }: ApiKey) {
  const revokedAt = revokedAtMs === null ? null : new Date(revokedAtMs).toISOString();
  return { ...key, createdAt: new Date(createdAtMs).toISOString(), revokedAt };
}

/** Null where it is not set. */
function readAgentSecret(env: NodeJS.ProcessEnv): string | null {
  if (!env['AGENT_SECRET'] && !env['AGENT_SECRET_FILE']) return null;
  try {
    return readEnvironment(AgentEnvironment, env).agentSecret;
  } catch (error) {
    throw error instanceof ConfigurationError ? new CommandError(error.message) : error;
  }
}

function parseScopes(words: readonly string[]): ApiKeyScope[] {
  const scopes = API_KEY_SCOPES.filter((scope) => words.includes(scope));
  const isStrange = words.some((word) => !(API_KEY_SCOPES as readonly string[]).includes(word));
  if (isStrange || scopes.length === 0) {
    throw new InvalidArgumentError(`--scope must be one or more of ${API_KEY_SCOPES.join(', ')}`);
  }
  return scopes;
}

/** A name that is configured nowhere would allow nothing, which is known too late. */
function assertKnown(accepts: readonly string[], env: NodeJS.ProcessEnv): void {
  const options = readPaymentsFile(env)?.options.map(({ entry }) => entry) ?? ['default'];
  const known = ['*', ...new Set(options), ...findConfiguredChains(env).map(caip2Of)];
  for (const name of accepts.filter((one) => !known.includes(one))) {
    const hint = hintAt(name, known, 'names');
    throw new InvalidArgumentError(`--accepts ${name} is no option or chain of the settings here; ${hint}`);
  }
}

function blameArgument(error: unknown): never {
  throw error instanceof TypeError ? new InvalidArgumentError(error.message) : error;
}

/** Refuses a whole token, without quoting it: it is a secret. */
function assertKeyId(id: string): void {
  if (id.startsWith('tgk_')) throw new InvalidArgumentError('Give the id of the key, the 12 characters after tgk_');
}
