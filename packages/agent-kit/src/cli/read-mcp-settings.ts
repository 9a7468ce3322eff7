import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { AgentKitError } from '../agent-kit-error.js';
import type { AgentKitOptions } from '../agent-kit-options.js';
import { readKitSettings, readStateDirectory } from '../settings/read-kit-settings.js';
import { readSetting, type Environment } from '../settings/read-setting.js';
import type { McpArguments } from './mcp-command.js';

export interface McpSettings {
  rpcUrl: string;
  privateKey: string;
  /** Policy, payment store, explorer. */
  kit: Pick<AgentKitOptions, 'policy' | 'explorerUrl' | 'payments'>;
  isDevnet: boolean;
  readOnly: boolean;
  /** Writes are sent without a confirmation. */
  allowWrites: boolean;
  /** `executePlan` is offered. */
  executePlans: boolean;
}

/** @throws AgentKitError `INVALID_CONFIGURATION` with every problem at once, and no value of a secret. */
export function readMcpSettings(args: McpArguments, env: Environment): McpSettings {
  const { readOnly = false, yes = false, executePlans = false, unknown } = args;
  const problems = unknown.map((word) =>
    word.startsWith('-') ? `${word.replace(/=.*/s, '')} is no option` : 'it takes no arguments beside its options',
  );
  if (readOnly && yes) problems.push('--read-only and --yes exclude each other');
  if (readOnly && executePlans) problems.push('--read-only and --execute-plans exclude each other');

  const kit = readKitSettings(env, problems);
  const given = {
    rpcUrl: readSetting('RPC_URL', env, problems),
    key: readSetting('WALLET_PRIVATE_KEY', env, problems),
  };
  const devnet = given.rpcUrl === '' ? readDevnet(readStateDirectory(env)) : null;
  const rpcUrl = given.rpcUrl ?? '';
  const settings = { rpcUrl: rpcUrl || devnet?.rpcUrl, privateKey: given.key || devnet?.privateKey };
  // An unreadable file is reported as the problem already.
  if (given.rpcUrl !== undefined && settings.rpcUrl === undefined) {
    problems.push('RPC_URL is not set, and no devnet runs here (npm run dev)');
  }
  if (given.key !== undefined && settings.privateKey === undefined) problems.push('WALLET_PRIVATE_KEY is not set');
  if (problems.length > 0 || settings.rpcUrl === undefined || settings.privateKey === undefined) {
    throw new AgentKitError('INVALID_CONFIGURATION', `The MCP server cannot start: ${problems.join('; ')}.`, {
      details: { problems },
    });
  }
  return {
    rpcUrl: settings.rpcUrl,
    privateKey: settings.privateKey,
    kit: devnet?.explorerUrl ? { explorerUrl: devnet.explorerUrl, ...kit } : kit,
    isDevnet: devnet !== null,
    readOnly,
    allowWrites: yes,
    executePlans,
  };
}

/** The devnet writes this file for its tools, and removes it at its end. */
function readDevnet(stateDirectory: string): { rpcUrl: string; privateKey: string; explorerUrl: string | null } | null {
  try {
    const state = JSON.parse(readFileSync(join(stateDirectory, 'dev.json'), 'utf8')) as Partial<
      Record<string, unknown>
    >;
    const { rpcUrl, accounts, explorerUrl } = state;
    const key: unknown = Array.isArray(accounts) ? (accounts[0] as { privateKey?: unknown }).privateKey : undefined;
    if (typeof rpcUrl !== 'string' || typeof key !== 'string') return null;
    return { rpcUrl, privateKey: key, explorerUrl: typeof explorerUrl === 'string' ? explorerUrl : null };
  } catch {
    return null;
  }
}
