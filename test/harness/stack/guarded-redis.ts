import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { findFreePort } from '../../../tools/devnet/processes/free-port.js';
import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { repositoryRoot } from '../../../tools/devnet/processes/repository.js';

export interface GuardedRedis {
  /** Its URL is the operator's, who sets up wallets and keys. */
  server: RedisServer;
  /** The file with a user's URL, for `REDIS_URL_FILE`. */
  urlFileOf(user: string): string;
  connectAs(user: string): Redis;
  /** A connection that may do everything. */
  admin: Redis;
  /** What Redis has refused: the user, the reason, and the command, key or channel. */
  readRefusals(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface RedisUsers {
  aclFile: string;
  /** The file with the user's URL, for `REDIS_URL_FILE`. */
  urlFileOf: (user: string) => string;
  passwordOf: (user: string) => string;
  remove: () => void;
}

/** The users of deploy/redis for servers at this URL. */
export function createRedisUsers(url: string): RedisUsers {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-users-'));
  const aclFile = join(folder, 'users.acl');
  execFileSync(process.execPath, [join(repositoryRoot(), 'deploy/redis/create-users.mjs'), aclFile, folder, url]);
  return {
    aclFile,
    urlFileOf: (user) => join(folder, user, 'url'),
    passwordOf: (user) => readFileSync(join(folder, user, 'password'), 'utf8'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** What a server has refused: the user, the reason, and the command, key or channel. */
export async function readAclRefusals(admin: Redis): Promise<string[]> {
  const entries = (await admin.call('ACL', 'LOG')) as unknown[];
  return entries.map((entry) => {
    const fields = toObject(entry);
    return [fields['username'], fields['reason'], fields['object']].join(' ');
  });
}

/** A Redis with the users of deploy/redis, and one for tests that may do everything. */
export async function startGuardedRedis(): Promise<GuardedRedis> {
  const port = await findFreePort();
  const { aclFile, urlFileOf, remove } = createRedisUsers(`redis://127.0.0.1:${port}`);
  appendFileSync(aclFile, 'user admin on nopass ~* &* +@all\n');
  const redis = await startRedis({ port, args: ['--aclfile', aclFile, '--enable-debug-command', 'yes'] });
  const connections: Redis[] = [];
  const connect = (url: string): Redis => {
    connections.push(new Redis(url));
    return connections.at(-1)!;
  };
  const admin = connect(`redis://admin:any@127.0.0.1:${port}`);
  return {
    server: { ...redis, url: readFileSync(urlFileOf('operator'), 'utf8') },
    urlFileOf,
    connectAs: (user) => connect(readFileSync(urlFileOf(user), 'utf8')),
    admin,
    readRefusals: () => readAclRefusals(admin),
    stop: async () => {
      for (const connection of connections) connection.disconnect();
      await redis.stop();
      remove();
    },
  };
}

/** A map of RESP2 is a list of names and values. */
function toObject(entry: unknown): Record<string, unknown> {
  if (!Array.isArray(entry)) return entry as Record<string, unknown>;
  return Object.fromEntries(entry.flatMap((name, at) => (at % 2 === 0 ? [[String(name), entry[at + 1]]] : [])));
}
