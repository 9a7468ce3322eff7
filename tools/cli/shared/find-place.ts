import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { explainMissingDevnet, stateDirectory } from '../../../packages/client/src/cli/dev-place.js';
import { CommandError } from './cli-command.js';
import { readRpcOfFile } from './find-chain.js';

/** The part of a running `npm run dev`'s dev.json that commands need. */
interface DevPlace {
  redisUrl?: string;
  rpcUrl?: string;
  secondChain?: { chainId: number; rpcUrl: string };
  operator?: { url: string; apiKey: string };
}

/** Where a command finds what it works on. */
export interface CommandPlace {
  url: string;
  /** Of an address that is only the default: where an `npm run dev` was looked for, to add to a message. */
  hint?: string | undefined;
}

const DEFAULT_OPERATOR_URL = 'http://127.0.0.1:4023';
const DEFAULT_REDIS_URL = 'redis://127.0.0.1:6379';

/**
 * The journal's and the ledger's Redis: `given`, else REDIS_URL, else that of a running `npm run dev`, else the
 * default.
 */
export function findRedisPlace(given: string | undefined, env: NodeJS.ProcessEnv): CommandPlace {
  const url = given ?? (readSetting(env, 'REDIS_URL') || readDevPlace(env).redisUrl);
  return url === undefined ? { url: DEFAULT_REDIS_URL, hint: explainMissingDevnet(env) ?? undefined } : { url };
}

/** The queues' Redis: `given`, else QUEUE_REDIS_URL, else the journal's. */
export function findQueueRedisPlace(
  { queueRedis, redis }: { queueRedis?: string; redis?: string },
  env: NodeJS.ProcessEnv,
): CommandPlace {
  const url = queueRedis ?? readSetting(env, 'QUEUE_REDIS_URL');
  return url === '' ? findRedisPlace(redis, env) : { url };
}

/** The RPC servers of a chain; null: of the only one. None where a command does not find any. */
export type FindRpc = (chainId: number | null) => readonly string[];

/**
 * Where a command reads a chain: `rpc`, else RPC_URL, comma separated, else PAYMENTS_FILE, else a running `npm run dev` whose
 * Redis is used. Another journal must not be compared with its chains: they may have the same ids, and know no transaction.
 */
export function findRpcServers({ rpc, redis }: { rpc?: string; redis?: string }, env: NodeJS.ProcessEnv): FindRpc {
  const given = (rpc ?? readSetting(env, 'RPC_URL'))
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
  if (given.length > 0) return () => given;
  if (env['PAYMENTS_FILE']) return (chainId) => readRpcOfFile(env, chainId);
  return (chainId) => findDevRpc(redis, env, chainId);
}

function findDevRpc(redis: string | undefined, env: NodeJS.ProcessEnv, chainId: number | null): readonly string[] {
  const { redisUrl, rpcUrl, secondChain } = readDevPlace(env);
  if (rpcUrl === undefined || findRedisPlace(redis, env).url !== redisUrl) return [];
  if (secondChain === undefined) return [rpcUrl];
  if (chainId === null) return [];
  return [secondChain.chainId === chainId ? secondChain.rpcUrl : rpcUrl];
}

/**
 * The operator API: `given`, else OPERATOR_URL, else the default, with the key in OPERATOR_API_KEY. Where neither an
 * address nor a key is set, those of a running `npm run dev`. Its key goes to no other address, and no other key to its.
 */
export function findOperator(given: string | undefined, env: NodeJS.ProcessEnv): CommandPlace & { apiKey: string } {
  const url = given ?? readSetting(env, 'OPERATOR_URL');
  const apiKey = readSetting(env, 'OPERATOR_API_KEY');
  if (url !== '' || apiKey !== '') return { url: url || DEFAULT_OPERATOR_URL, apiKey };
  const { operator } = readDevPlace(env);
  return operator ?? { url: DEFAULT_OPERATOR_URL, apiKey, hint: explainMissingDevnet(env) ?? undefined };
}

/** As the services read a secret: from the variable, or from the file that `<name>_FILE` names. */
function readSetting(env: NodeJS.ProcessEnv, name: string): string {
  const file = env[`${name}_FILE`] ?? '';
  if (env[name] || file === '') return env[name] ?? '';
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandError(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code}): ${file}`);
  }
}

/** @throws CommandError where it was killed: a Redis at the default address would be another one */
function readDevPlace(env: NodeJS.ProcessEnv): DevPlace {
  const stateFile = join(stateDirectory(env), 'dev.json');
  if (!existsSync(stateFile)) return {};
  const killed = explainMissingDevnet(env);
  if (killed !== null) throw new CommandError(killed);
  return JSON.parse(readFileSync(stateFile, 'utf8')) as DevPlace;
}
