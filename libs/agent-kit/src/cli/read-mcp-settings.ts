import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { AgentKitError } from '../agent-kit-error.js';

export const USAGE = `Usage: tollgate-mcp [options]

A Model Context Protocol server on stdin and stdout: the agent kit's operations as tools, on the account of a wallet.
Everything else it has to say goes to stderr.

  --read-only  offer no tool that sends transactions
  --yes        send what the client asks for, and ask nobody; without it, the person at the client confirms each
               plan (elicitation), and where the client cannot ask, nothing is sent
  --help

Settings, as environment variables (or NAME_FILE with the path of a file that holds it):

  RPC_URL             JSON-RPC endpoint of the chain
  WALLET_PRIVATE_KEY  key of the account
  TOLLGATE_STATE_DIR  where payments are kept, and where a running devnet is found (default: .tollgate)

Without RPC_URL it uses the devnet that runs here (npm run dev), and without a key that one's first account.
`;

export interface McpSettings {
  rpcUrl: string;
  privateKey: string;
  stateDirectory: string;
  isDevnet: boolean;
  readOnly: boolean;
  /** Writes are sent without a confirmation. */
  allowWrites: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @returns the settings, or `help` when that was asked for.
 * @throws AgentKitError `INVALID_CONFIGURATION` with every problem at once, and no value of a secret.
 */
export function readMcpSettings(args: readonly string[], env: Environment): McpSettings | 'help' {
  const problems: string[] = [];
  const flags = readFlags(args, problems);
  if (flags.help) return 'help';
  if (flags.readOnly && flags.yes) problems.push('--read-only and --yes exclude each other');

  const stateDirectory = resolve(env['TOLLGATE_STATE_DIR'] ?? '.tollgate');
  const given = {
    rpcUrl: readSetting('RPC_URL', env, problems),
    key: readSetting('WALLET_PRIVATE_KEY', env, problems),
  };
  const devnet = given.rpcUrl === '' ? readDevnet(stateDirectory) : null;
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
    stateDirectory,
    isDevnet: devnet !== null,
    readOnly: flags.readOnly,
    allowWrites: flags.yes,
  };
}

function readFlags(args: readonly string[], problems: string[]) {
  const options = { 'read-only': { type: 'boolean' }, yes: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'option' && !Object.hasOwn(options, token.name)) problems.push(`${token.rawName} is no option`);
    if (token.kind === 'positional') problems.push('it takes no arguments beside its options');
  }
  return { readOnly: values['read-only'] === true, yes: values.yes === true, help: values.help === true };
}

/** Empty where it is not set; undefined where it could not be read, which is then a problem. */
function readSetting(name: string, env: Environment, problems: string[]): string | undefined {
  const value = env[name]?.trim() ?? '';
  const file = env[`${name}_FILE`]?.trim() ?? '';
  if (file === '') return value;
  if (value !== '') {
    problems.push(`${name} and ${name}_FILE are both set`);
    return undefined;
  }
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (text === '') problems.push(`${name}_FILE is empty: ${resolve(file)}`);
    return text === '' ? undefined : text;
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    problems.push(`${name}_FILE cannot be read (${code}): ${resolve(file)}`);
    return undefined;
  }
}

/** The devnet writes this file for its tools, and removes it at its end. */
function readDevnet(stateDirectory: string): { rpcUrl: string; privateKey: string } | null {
  try {
    const state = JSON.parse(readFileSync(join(stateDirectory, 'dev.json'), 'utf8')) as Partial<
      Record<string, unknown>
    >;
    const { rpcUrl, accounts } = state;
    const key: unknown = Array.isArray(accounts) ? (accounts[0] as { privateKey?: unknown }).privateKey : undefined;
    return typeof rpcUrl === 'string' && typeof key === 'string' ? { rpcUrl, privateKey: key } : null;
  } catch {
    return null;
  }
}
