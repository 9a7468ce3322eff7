import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { AgentKitError } from '../agent-kit-error.js';
import type { AgentKitOptions } from '../agent-kit-options.js';
import { KIT_SETTINGS_USAGE, readKitSettings, readStateDirectory } from '../settings/read-kit-settings.js';
import { readSetting, type Environment } from '../settings/read-setting.js';

export const USAGE = `Usage: tollgate-mcp [options]

A Model Context Protocol server on stdin and stdout: the agent kit's operations as tools, on the account of a wallet.
Everything else it has to say goes to stderr.

  --read-only  offer no tool that sends transactions
  --yes        send what the client asks for, and ask nobody; without it, the person at the client confirms each
               plan (elicitation), and where the client cannot ask, nothing is sent
  --execute-plans
               offer executePlan, which sends a plan that a plan tool has shown; the client's own dialog shows its
               summary. Where the client approves tools automatically, this is --yes
  --help

Settings, as environment variables (or NAME_FILE with the path of a file that holds it):

  RPC_URL             JSON-RPC endpoint of the chain
${KIT_SETTINGS_USAGE}

Without RPC_URL it uses the devnet that runs here (npm run dev).
`;

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

/**
 * @returns the settings, or `help` when that was asked for.
 * @throws AgentKitError `INVALID_CONFIGURATION` with every problem at once, and no value of a secret.
 */
export function readMcpSettings(args: readonly string[], env: Environment): McpSettings | 'help' {
  const problems: string[] = [];
  const flags = readFlags(args, problems);
  if (flags.help) return 'help';
  if (flags.readOnly && flags.yes) problems.push('--read-only and --yes exclude each other');
  if (flags.readOnly && flags.executePlans) problems.push('--read-only and --execute-plans exclude each other');

  const kit = readKitSettings(env, problems);
  const given = {
    rpcUrl: readSetting('RPC_URL', env, problems),
    key: readSetting('WALLET_PRIVATE_KEY', env, problems),
  };
  const devnet = given.rpcUrl === '' ? readDevnet(readStateDirectory(env)) : null;
  const rpcUrl = given.rpcUrl ?? '';
  const settings = { rpcUrl: rpcUrl || devnet?.rpcUrl, privateKey: given.key || devnet?.privateKey };
  // Where a file could not be read, that is the problem already.
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
    readOnly: flags.readOnly,
    allowWrites: flags.yes,
    executePlans: flags.executePlans,
  };
}

function readFlags(args: readonly string[], problems: string[]) {
  const options = {
    'read-only': { type: 'boolean' },
    yes: { type: 'boolean' },
    'execute-plans': { type: 'boolean' },
    help: { type: 'boolean' },
  } as const;
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'option' && !Object.hasOwn(options, token.name)) problems.push(`${token.rawName} is no option`);
    if (token.kind === 'positional') problems.push('it takes no arguments beside its options');
  }
  return {
    readOnly: values['read-only'] === true,
    yes: values.yes === true,
    executePlans: values['execute-plans'] === true,
    help: values.help === true,
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
