import type { PaymentStore } from '@tollgate/client';

import { AgentKitError } from './agent-kit-error.js';
import { NETWORK_RETRY_DELAY_MS } from './execution/retry-network.js';
import { CATALOG } from './operations/catalog.js';
import type { Operation } from './operations/operation.js';
import { EXECUTE_PLAN, namePlanTool } from './operations/plan-tool-names.js';
import { parsePolicy } from './policy/parse-policy.js';
import type { SpendingPolicy } from './policy/policy.js';
import type { Plugin } from './protocols/plugin.js';
import type { ChainRegistry } from './registry/registry.js';
import type { ListedToken } from './tokens/token.js';

export interface AgentKitOptions {
  /** JSON-RPC over HTTP; the setting `RPC_URL` where it is not given. */
  rpcUrl?: string;
  /** Asked in this order where the first does not answer. */
  otherRpcUrls?: readonly string[];
  /** How many questions that are asked at once go into one request; 1, for not every node takes several. */
  rpcBatchSize?: number;
  /** Protocols and operations of others; one for a kind that the chain has already takes its place. */
  plugins?: readonly Plugin[];
  /** Tokens beside the chain's own list. */
  tokens?: readonly ListedToken[];
  /** What is deployed where, instead of what the kit knows of the chain. */
  registry?: ChainRegistry;
  policy?: SpendingPolicy;
  /** `direct` signs and sends, `sign-only` signs and returns the bytes, `read-only` does neither; `direct`. */
  executor?: 'direct' | 'sign-only' | 'read-only';
  /** Tolerance where an operation's inputs name none, in basis points; 100. */
  slippageBps?: number;
  /** How the kit pays at HTTP 402 gates. */
  payments?: {
    /** Most for one resource where the inputs name nothing, as decimal text in the token's unit; 0.01. */
    maxAmount?: string;
    /** Where payments survive a crash; memory, which survives none. */
    store?: PaymentStore;
    /** Pay over plain HTTP to other machines too; false. */
    allowInsecureHttp?: boolean;
    /** Longest wait for a price; 10,000. */
    priceTimeoutMs?: number;
  };
  fetch?: typeof globalThis.fetch;
  /** Wait before the second try after a network error; 5000. */
  networkRetryDelayMs?: number;
  /** Longest wait for one answer of the chain; 10,000. */
  rpcTimeoutMs?: number;
  /** How long a sent transaction is watched; 30 look-ups, 1000 ms apart (specification, section "Limits"). */
  monitor?: { attempts?: number; intervalMs?: number };
  /** Links to transactions lead there; the chain's own explorer where it has one. */
  explorerUrl?: string;
}

export interface ParsedOptions extends AgentKitOptions {
  rpcUrl: string;
  otherRpcUrls: readonly string[];
  rpcBatchSize: number;
  slippageBps: number;
  networkRetryDelayMs: number;
  rpcTimeoutMs: number;
  executor: 'direct' | 'sign-only' | 'read-only';
  fetch: typeof globalThis.fetch;
  policy: SpendingPolicy;
  plugins: readonly Plugin[];
}

const DEFAULT_SLIPPAGE_BPS = 100;
const MAX_SLIPPAGE_BPS = 5_000;
const MAX_BATCH_SIZE = 1_000;

// What setTimeout can wait at all.
const MAX_WAIT_MS = 2 ** 31 - 1;

/** @throws AgentKitError `INVALID_CONFIGURATION` with every problem. */
export function parseOptions(options: AgentKitOptions): ParsedOptions {
  const { slippageBps = DEFAULT_SLIPPAGE_BPS, networkRetryDelayMs = NETWORK_RETRY_DELAY_MS } = options;
  const { rpcTimeoutMs = 10_000, executor = 'direct', fetch = globalThis.fetch, plugins = [] } = options;
  const { otherRpcUrls = [], rpcBatchSize = 1 } = options;
  const rpcUrl = options.rpcUrl ?? process.env['RPC_URL'] ?? '';
  const operations = listOperations(plugins);
  const { policy, problems: problemsOfPolicy } = parsePolicy(options.policy ?? {}, listWriteNames(operations));
  const problems = [
    ...findBadUrls(rpcUrl, otherRpcUrls, options.explorerUrl),
    ...(isWhole(rpcBatchSize, 1, MAX_BATCH_SIZE) ? [] : [`rpcBatchSize is a whole number from 1 to ${MAX_BATCH_SIZE}`]),
    ...(['direct', 'sign-only', 'read-only'].includes(executor)
      ? []
      : ['executor is one of direct, sign-only, read-only']),
    ...(isWhole(slippageBps, 0, MAX_SLIPPAGE_BPS)
      ? []
      : [`the tolerance of swaps is a whole number of basis points from 0 to ${MAX_SLIPPAGE_BPS}`]),
    ...findBadTimes({ ...options, networkRetryDelayMs, rpcTimeoutMs }),
    ...findDoubles(operations).map((name) => `a plugin has an operation ${name}, and there is one already`),
    ...problemsOfPolicy,
  ];
  if (problems.length > 0) {
    throw new AgentKitError('INVALID_CONFIGURATION', `The agent kit cannot start: ${problems.join('; ')}.`, {
      details: { problems },
    });
  }
  return {
    ...options,
    ...{ rpcUrl, otherRpcUrls, rpcTimeoutMs, rpcBatchSize, networkRetryDelayMs },
    ...{ slippageBps, executor, fetch, policy, plugins },
  };
}

/** Without the values: an RPC's URL may hold a key. */
function findBadUrls(rpcUrl: string, others: readonly string[], explorerUrl: string | undefined): string[] {
  const isWeb = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url);
  const problems: string[] = [];
  if (rpcUrl === '') problems.push('RPC_URL is missing: the address of a JSON-RPC endpoint');
  else if (!isWeb(rpcUrl)) problems.push('RPC_URL is no http or https URL');
  if (!others.every(isWeb)) problems.push('one of the other RPC addresses is no http or https URL');
  if (explorerUrl !== undefined && !isWeb(explorerUrl)) problems.push('the explorer is no http or https URL');
  return problems;
}

function findBadTimes({ networkRetryDelayMs, rpcTimeoutMs, monitor = {} }: AgentKitOptions): string[] {
  const { attempts = 1, intervalMs = 0 } = monitor;
  return [
    ...(isWhole(networkRetryDelayMs, 0, MAX_WAIT_MS) ? [] : ['the wait before a retry is a number of milliseconds']),
    ...(isWhole(rpcTimeoutMs, 1, MAX_WAIT_MS) ? [] : ['rpcTimeoutMs is a number of milliseconds above 0']),
    ...(isWhole(attempts, 1, MAX_WAIT_MS) ? [] : ['monitor.attempts is a whole number above 0']),
    ...(isWhole(intervalMs, 0, MAX_WAIT_MS) ? [] : ['monitor.intervalMs is a number of milliseconds']),
  ];
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Every operation: the catalog's and the plugins' own. */
export function listOperations(plugins: readonly Plugin[]): readonly Operation[] {
  return [...CATALOG, ...plugins.flatMap((plugin) => (plugin.kind === 'operations' ? plugin.operations : []))];
}

function listWriteNames(operations: readonly Operation[]): string[] {
  return operations.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
}

function findDoubles(operations: readonly Operation[]): string[] {
  // As tools: each write has one more, that plans it.
  const planTools = [...new Set(listWriteNames(operations))].map(namePlanTool);
  const names = [...operations.map(({ name }) => name), ...planTools, EXECUTE_PLAN];
  return names.filter((name, index) => names.indexOf(name) !== index);
}
