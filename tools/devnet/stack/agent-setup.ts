import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApiKeyStore, type ApiKeyScope } from '@tollgate/http';
import { createLaneId, type LaneId } from '@tollgate/journal';

import type { Devnet, DevnetAccount } from '../chain/chain.js';
import type { RedisServer } from '../processes/redis.js';
import { withRedis } from '../processes/with-redis.js';
import { adoptOnNewChain, adoptWallets } from './adopt-wallets.js';

export interface AgentWallet extends DevnetAccount {
  name: string;
  lane: LaneId;
  /** The wallet's entry in `WALLETS_FILE`, without its key. */
  terms: AgentWalletTerms;
}

export interface AgentWalletTerms {
  policy?: Record<string, unknown>;
  approvalAbove?: Record<string, string>;
}

/** The files and settings that agent workers need besides Redis and a chain, and the actions of an operator. */
export interface AgentSetup {
  wallets: AgentWallet[];
  /** For gateways and workers. */
  env: NodeJS.ProcessEnv;
  /** Only for workers: the paths of the keys. */
  workerEnv: NodeJS.ProcessEnv;
  /** Adopts again, as an operator does for a wallet whose lane is frozen. */
  adopt(name: string): Promise<void>;
  /** Creates an API key; its token is shown only here. */
  createApiKey(scopes: readonly ApiKeyScope[], wallets?: readonly string[]): Promise<{ id: string; token: string }>;
  /** Removes the files with the keys. */
  stop(): Promise<void>;
}

export interface AgentSetupOptions {
  chain: Devnet;
  redis: RedisServer;
  /** The wallets by name, each an account of the devnet that nothing else uses. */
  wallets: Readonly<Record<string, AgentWalletTerms>>;
  /** Default: one of its own. */
  agentSecret?: string | undefined;
}

/** Puts the devnet's agent wallets into files as an operator would, and adopts them. */
export async function setUpAgents(options: AgentSetupOptions): Promise<AgentSetup> {
  const { chain, redis, agentSecret = randomBytes(32).toString('hex') } = options;
  const wallets = Object.entries(options.wallets).map(([name, terms], index): AgentWallet => {
    const account = chain.agentWallets[index];
    if (!account) throw new Error(`the devnet has ${chain.agentWallets.length} agent wallets`);
    return { name, terms, ...account, lane: createLaneId(chain.chainId, account.address) };
  });
  const place = { redisUrl: redis.url, rpcUrl: chain.rpcUrl, chainId: chain.chainId };
  await (chain.isNew ? adoptOnNewChain : adoptWallets)({ ...place, wallets });
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-wallets-'));
  return {
    wallets,
    env: { AGENT_SECRET: agentSecret, ALLOW_PRIVATE_TARGETS: 'true', AGENT_RATE_LIMIT_PER_MINUTE: '0' },
    workerEnv: { WALLETS_FILE: writeWalletsFile(folder, wallets) },
    adopt: (name) => adoptWallets({ ...place, wallets: wallets.filter((wallet) => wallet.name === name) }),
    createApiKey: (scopes, names = wallets.map(({ name }) => name)) =>
      withRedis(redis.url, async (connection) => {
        const created = await new ApiKeyStore(connection).create({ name: 'devnet', scopes, wallets: names });
        return { id: created.key.id, token: created.token };
      }),
    stop: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };
}

function writeWalletsFile(folder: string, wallets: readonly AgentWallet[]): string {
  const described = wallets.map(({ name, privateKey, terms }) => {
    writeFileSync(join(folder, `${name}.key`), privateKey, { mode: 0o600 });
    return [name, { privateKeyFile: `${name}.key`, ...terms }] as const;
  });
  const file = join(folder, 'wallets.json');
  writeFileSync(file, JSON.stringify({ wallets: Object.fromEntries(described) }, null, 2), { mode: 0o600 });
  return file;
}
