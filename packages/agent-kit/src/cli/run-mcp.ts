import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { wasDevnetKilled } from '@tollgate/client/dev-place';

import { AgentKit } from '../agent-kit.js';
import { loadPackages } from '../load-packages.js';
import { isToolset, TOOLSETS, type Toolset } from '../operations/toolsets.js';
import { readKitSettings, readSetting, readStateDirectory, type Environment } from '../settings/read-kit-settings.js';
import type { OperationRunner } from '../tools/run-operation.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { ServedHttp } from './serve-http.js';

/** The words typed after the program's name. */
export interface McpArguments {
  readOnly?: boolean;
  yes?: boolean;
  executePlans?: boolean;
  /** A comma-separated list; without it all. */
  toolsets?: string;
  /** Serves over HTTP at this port instead of stdin and stdout. */
  http?: string;
  /** The address to listen at; default 127.0.0.1. */
  host?: string;
  /** All other words: they are refused together with the errors of the settings. */
  unknown: readonly string[];
}

export interface McpTerminal {
  stdin: Readable;
  /** Protocol messages only. */
  stdout: Writable;
  stderr: (line: string) => void;
  /** Resolves when the process is to stop. */
  stopRequest: Promise<unknown>;
}

/**
 * Serves until stdin ends or the process is to stop. A plan that waits for a confirmation then is not sent; a
 * transaction in flight is seen through. Resolves with the exit code: 0, 1 without the MCP SDK, or 2 for settings that
 * are wrong.
 */
export async function runMcp(args: McpArguments, env: Environment, terminal: McpTerminal): Promise<number> {
  let settings: McpSettings;
  let kit: AgentKit;
  let sdk: Awaited<ReturnType<typeof loadSdk>>;
  try {
    settings = readMcpSettings(args, env);
    kit = new AgentKit(settings.privateKey, 'offline', {
      rpcUrl: settings.rpcUrl,
      executor: args.readOnly ? 'read-only' : 'direct',
      ...settings.kit,
    });
    sdk = await loadSdk();
  } catch (error) {
    if (!(error instanceof AgentKitError)) throw error;
    if (error.code === 'PACKAGE_MISSING') {
      terminal.stderr(error.message);
      return 1;
    }
    terminal.stderr(`${error.message.replace(/(?<![.!?])$/, '.')} See --help.`);
    return 2;
  }

  const { readOnly = false, yes = false, executePlans = false } = args;
  const sending = new Set<Promise<unknown>>();
  const runner = rememberSending(kit, sending);
  const createServer = (): McpServer =>
    sdk.createMcpServer(runner, {
      readOnly,
      allowWrites: yes,
      plans: executePlans ? 'execute' : 'none',
      ...(settings.toolsets && { toolsets: settings.toolsets }),
      onUnexpectedError: (error) => terminal.stderr(describeUnexpected(error, settings.privateKey)),
    });
  const { http } = settings;
  if (http === null) {
    const server = createServer();
    const ended = waitForEnd(server, terminal);
    await server.connect(new sdk.StdioServerTransport(terminal.stdin, terminal.stdout));
    terminal.stderr(describeStart(kit, args, settings));
    await ended;
    await server.close();
  } else {
    let served: ServedHttp;
    try {
      served = await sdk.serveHttp({ ...http, createServer });
    } catch (error) {
      terminal.stderr(`The MCP server cannot listen at ${http.host}, port ${http.port}: ${(error as Error).message}`);
      return 2;
    }
    terminal.stderr(`${describeStart(kit, args, settings)} Clients with the key connect to ${served.url}.`);
    await terminal.stopRequest;
    await served.close();
  }
  await Promise.allSettled(sending);
  return 0;
}

/** Loaded late, because the check of the settings does not need it. */
async function loadSdk() {
  return loadPackages('tollgate-mcp', ['@modelcontextprotocol/sdk'], async () => ({
    ...(await import('@modelcontextprotocol/sdk/server/stdio.js')),
    ...(await import('../tools/mcp.js')),
    ...(await import('./serve-http.js')),
  }));
}

function rememberSending(kit: OperationRunner, sending: Set<Promise<unknown>>): OperationRunner {
  return {
    operations: () => kit.operations(),
    allows: (name) => kit.allows?.(name) ?? true,
    read: (name, input) => kit.read(name, input),
    plan: (name, input, options) => kit.plan(name, input, options),
    execute: (plan) => {
      const execution = kit.execute(plan);
      sending.add(execution);
      return execution.finally(() => sending.delete(execution));
    },
  };
}

function waitForEnd({ server }: McpServer, { stdin, stdout, stopRequest }: McpTerminal): Promise<void> {
  return new Promise((resolve) => {
    server.onclose = resolve;
    stdin
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve());
    // A client that is gone must not end the process in the middle of a plan's transactions.
    stdout.on('error', () => resolve());
    void stopRequest.then(() => resolve());
  });
}

function describeStart(
  { address }: AgentKit,
  { readOnly, yes, executePlans }: McpArguments,
  { rpcUrl, isDevnet }: McpSettings,
): string {
  const asks = executePlans ? 'asks before it sends, or sends plans that the client approves' : 'asks before it sends';
  const writes = readOnly ? 'reads only' : yes ? 'sends without asking' : asks;
  return `Serving MCP for ${address} on ${isDevnet ? 'the devnet' : new URL(rpcUrl).host}; ${writes}.`;
}

function describeUnexpected(error: unknown, privateKey: string): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.replaceAll(privateKey.replace(/^0x/i, ''), '…');
}

interface McpSettings {
  /** Null: all. */
  toolsets: readonly Toolset[] | null;
  /** Null: over stdin and stdout. */
  http: { readonly port: number; readonly host: string; readonly key: string } | null;
  rpcUrl: string;
  privateKey: string;
  /** Policy, payment store, explorer. */
  kit: ReturnType<typeof readKitSettings>;
  isDevnet: boolean;
}

/** @throws AgentKitError `INVALID_CONFIGURATION` with every problem at once, and no value of a secret. */
function readMcpSettings(args: McpArguments, env: Environment): McpSettings {
  const { readOnly = false, yes = false, executePlans = false, unknown } = args;
  const problems = unknown.map((word) =>
    word.startsWith('-') ? `${word.replace(/=.*/s, '')} is no option` : 'it takes no arguments beside its options',
  );
  if (readOnly && yes) problems.push('--read-only and --yes exclude each other');
  if (readOnly && executePlans) problems.push('--read-only and --execute-plans exclude each other');

  const toolsets = args.toolsets === undefined ? null : readToolsets(args.toolsets, problems);
  const http = readHttp(args, env, problems);
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
    problems.push(`RPC_URL is not set, and no npm run dev runs in ${readStateDirectory(env)}`);
  }
  if (given.key !== undefined && settings.privateKey === undefined) problems.push('WALLET_PRIVATE_KEY is not set');
  if (problems.length > 0 || settings.rpcUrl === undefined || settings.privateKey === undefined) {
    throw new AgentKitError('INVALID_CONFIGURATION', `The MCP server cannot start: ${problems.join('; ')}.`, {
      details: { problems },
    });
  }
  return {
    toolsets,
    http,
    rpcUrl: settings.rpcUrl,
    privateKey: settings.privateKey,
    kit: devnet?.explorerUrl ? { explorerUrl: devnet.explorerUrl, ...kit } : kit,
    isDevnet: devnet !== null,
  };
}

function readToolsets(text: string, problems: string[]): readonly Toolset[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isToolset(name));
  if (unknown.length > 0)
    problems.push(`--toolsets has ${unknown.join(', ')}, which is none of ${TOOLSETS.join(', ')}`);
  return names.filter(isToolset);
}

/** A key that can be guessed would give the account away. */
const MIN_KEY_CHARACTERS = 16;

function readHttp(
  { http, host = '127.0.0.1' }: McpArguments,
  env: Environment,
  problems: string[],
): McpSettings['http'] {
  if (http === undefined) return null;
  const key = readSetting('MCP_KEY', env, problems) ?? '';
  const port = /^\d{1,5}$/.test(http) ? Number(http) : Number.NaN;
  if (!(port <= 65_535)) problems.push('--http must be a port from 0 to 65535');
  if (!new RegExp(`^[\\x21-\\x7e]{${MIN_KEY_CHARACTERS},}$`).test(key))
    problems.push(`--http needs MCP_KEY, a key of at least ${MIN_KEY_CHARACTERS} visible characters that clients send`);
  return { port, host, key };
}

/** The devnet writes this file for its tools, and removes it at its end. */
function readDevnet(stateDirectory: string): { rpcUrl: string; privateKey: string; explorerUrl: string | null } | null {
  try {
    if (wasDevnetKilled(stateDirectory)) return null;
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
