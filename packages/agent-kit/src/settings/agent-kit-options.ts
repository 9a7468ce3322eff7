import { isHttpUrl } from '@tollgate/protocol';

import { NETWORK_RETRY_DELAY_MS } from '../chain/explain-failure.js';
import { CATALOG } from '../operations/catalog.js';
import { EXECUTE_PLAN, namePlanTool, type Operation, type Plugin } from '../operations/define/operation.js';
import type { PaymentSettings } from '../payments/payment-limits.js';
import { parsePolicy, type SpendingPolicy } from '../policy/policy.js';
import type { ChainRegistry } from '../registry/registry.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { OwnHeaders } from '../types/plan.js';
import type { ListedToken } from '../types/token.js';

/** A further chain on which the account of a kit pays; its fields are those of the kit's own chain. */
export type FurtherChain = Pick<AgentKitOptions, 'otherRpcUrls' | 'tokens' | 'registry' | 'explorerUrl'> & {
  rpcUrl: string;
};

export interface AgentKitOptions {
  /** JSON-RPC over HTTP; if omitted, the setting `RPC_URL`. */
  rpcUrl?: string;
  /** Tried in this order when the first does not answer. */
  otherRpcUrls?: readonly string[];
  /** How many concurrent calls share one request; default 1, since not every node supports batches. */
  rpcBatchSize?: number;
  /** Third-party protocols and operations. One for a kind that the chain already has replaces it. */
  plugins?: readonly Plugin[];
  /** Tokens in addition to the chain's own list. */
  tokens?: readonly ListedToken[];
  /** The deployed contracts, instead of the kit's own data about the chain. */
  registry?: ChainRegistry;
  policy?: SpendingPolicy;
  /** `direct` signs and sends, `sign-only` signs and returns the bytes, `read-only` does neither. Default `direct`. */
  executor?: 'direct' | 'sign-only' | 'read-only';
  /** Slippage tolerance when an operation's inputs contain none, in basis points; default 100. */
  slippageBps?: number;
  payments?: PaymentSettings & {
    /** Further chains on which the same account pays, tried after the kit's own in this order. */
    chains?: readonly FurtherChain[];
  };
  fetch?: typeof globalThis.fetch;
  /** Delay before the second attempt after a network error; default 5000. */
  networkRetryDelayMs?: number;
  /** Time limit for one answer of the chain; default 10,000. */
  rpcTimeoutMs?: number;
  /** How long a sent transaction is watched; default 30 look-ups, 1000 ms apart (specification, section "Limits"). */
  monitor?: { attempts?: number; intervalMs?: number };
  /** Base URL for links to transactions; default: the chain's own explorer, if it has one. */
  explorerUrl?: string;
}

export type ParsedOptions = AgentKitOptions &
  Required<Omit<AgentKitOptions, 'tokens' | 'registry' | 'payments' | 'monitor' | 'explorerUrl'>>;

const DEFAULT_SLIPPAGE_BPS = 100;
const MAX_SLIPPAGE_BPS = 5_000;
const MAX_BATCH_SIZE = 1_000;

// The longest delay that setTimeout supports.
const MAX_WAIT_MS = 2 ** 31 - 1;

/** @throws AgentKitError `INVALID_CONFIGURATION` with every problem. */
export function parseOptions(options: AgentKitOptions): ParsedOptions {
  const { slippageBps = DEFAULT_SLIPPAGE_BPS, networkRetryDelayMs = NETWORK_RETRY_DELAY_MS } = options;
  const { rpcTimeoutMs = 10_000, executor = 'direct', fetch: given = globalThis.fetch, plugins = [] } = options;
  const { otherRpcUrls = [], rpcBatchSize = 1 } = options;
  const rpcUrl = options.rpcUrl ?? (typeof process === 'undefined' ? undefined : process.env['RPC_URL']) ?? '';
  const operations = listOperations(plugins);
  const { policy, problems: problemsOfPolicy } = parsePolicy(options.policy ?? {}, listWriteNames(operations));
  const problems = [
    ...findBadUrls(rpcUrl, otherRpcUrls, options.explorerUrl),
    isWhole(rpcBatchSize, 1, MAX_BATCH_SIZE) || `rpcBatchSize must be a whole number from 1 to ${MAX_BATCH_SIZE}`,
    ['direct', 'sign-only', 'read-only'].includes(executor) || 'executor must be one of direct, sign-only, read-only',
    isWhole(slippageBps, 0, MAX_SLIPPAGE_BPS) ||
      `the tolerance of swaps must be a whole number of basis points from 0 to ${MAX_SLIPPAGE_BPS}`,
    ...findBadHeaders(options.payments?.headers),
    ...findBadChains(options.payments?.chains),
    ...findBadTimes({ ...options, networkRetryDelayMs, rpcTimeoutMs }),
    ...findDoubles(operations).map((name) => `a plugin has an operation ${name}, which already exists`),
    ...problemsOfPolicy,
  ].filter((problem) => typeof problem === 'string');
  if (problems.length > 0) {
    throw new AgentKitError('INVALID_CONFIGURATION', `The agent kit cannot start: ${problems.join('; ')}.`, {
      details: { problems },
    });
  }
  // Workers and browsers refuse a fetch that is called as a method.
  const fetch: typeof given = (...request) => given(...request);
  return {
    ...options,
    rpcUrl,
    otherRpcUrls,
    rpcTimeoutMs,
    rpcBatchSize,
    networkRetryDelayMs,
    slippageBps,
    executor,
    fetch,
    policy,
    plugins,
  };
}

/** Values are left out, because an RPC URL may contain a key. */
function findBadUrls(rpcUrl: string, others: readonly string[], explorerUrl: string | undefined): string[] {
  const problems: string[] = [];
  if (rpcUrl === '') problems.push('RPC_URL is missing: set the URL of a JSON-RPC endpoint');
  else if (!isHttpUrl(rpcUrl)) problems.push('RPC_URL is not an http or https URL');
  if (!others.every(isHttpUrl)) problems.push('one of the other RPC addresses is not an http or https URL');
  if (explorerUrl !== undefined && !isHttpUrl(explorerUrl)) problems.push('the explorer is not an http or https URL');
  return problems;
}

function findBadChains(chains: readonly FurtherChain[] = []): string[] {
  const urls = chains.flatMap(({ rpcUrl, otherRpcUrls = [] }) => [rpcUrl, ...otherRpcUrls]);
  return urls.every(isHttpUrl) ? [] : ['an RPC address of payments.chains is not an http or https URL'];
}

/** Values are left out, because they are credentials. */
function findBadHeaders(byOrigin: OwnHeaders = {}): string[] {
  return Object.entries(byOrigin).flatMap(([origin, headers]) => {
    if (!isHttpUrl(origin) || new URL(origin).origin !== origin)
      return ['payments.headers must name origins as in https://api.example.com, without a path'];
    return Object.entries(headers)
      .filter(([name, value]) => !canSend(name, value))
      .map(([name]) => `payments.headers has a header for ${origin} that HTTP cannot carry: ${JSON.stringify(name)}`);
  });
}

function canSend(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}

function findBadTimes({ networkRetryDelayMs, rpcTimeoutMs, monitor = {} }: AgentKitOptions): string[] {
  const { attempts = 1, intervalMs = 0 } = monitor;
  return [
    isWhole(networkRetryDelayMs, 0, MAX_WAIT_MS) || 'the wait before a retry must be a number of milliseconds',
    isWhole(rpcTimeoutMs, 1, MAX_WAIT_MS) || 'rpcTimeoutMs must be a number of milliseconds above 0',
    isWhole(attempts, 1, MAX_WAIT_MS) || 'monitor.attempts must be a whole number above 0',
    isWhole(intervalMs, 0, MAX_WAIT_MS) || 'monitor.intervalMs must be a number of milliseconds',
  ].filter((problem) => typeof problem === 'string');
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** All operations: those of the catalog and of the plugins. */
export function listOperations(plugins: readonly Plugin[]): readonly Operation[] {
  return [...CATALOG, ...plugins.flatMap((plugin) => (plugin.kind === 'operations' ? plugin.operations : []))];
}

function listWriteNames(operations: readonly Operation[]): string[] {
  return operations.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
}

function findDoubles(operations: readonly Operation[]): string[] {
  // The names of tools too: each write operation has a second tool that plans it.
  const planTools = [...new Set(listWriteNames(operations))].map(namePlanTool);
  const names = [...operations.map(({ name }) => name), ...planTools, EXECUTE_PLAN];
  return names.filter((name, index) => names.indexOf(name) !== index);
}
