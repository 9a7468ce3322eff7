import type { PaymentStore } from '@tollgate/client';

import { AgentKitError } from './agent-kit-error.js';
import { NETWORK_RETRY_DELAY_MS } from './execution/retry-network.js';
import type { SpendingPolicy } from './policy/policy.js';
import type { Plugin } from './protocols/plugin.js';
import type { ChainRegistry } from './registry/registry.js';
import type { ListedToken } from './tokens/token.js';

export interface AgentKitOptions {
  /** JSON-RPC over HTTP; the setting `RPC_URL` where it is not given. */
  rpcUrl?: string;
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
  slippageBps: number;
  networkRetryDelayMs: number;
  rpcTimeoutMs: number;
  executor: 'direct' | 'sign-only' | 'read-only';
  fetch: typeof globalThis.fetch;
}

const DEFAULT_SLIPPAGE_BPS = 100;
const MAX_SLIPPAGE_BPS = 5_000;

/** @throws AgentKitError `INVALID_CONFIGURATION` with every problem. */
export function parseOptions(options: AgentKitOptions): ParsedOptions {
  const { slippageBps = DEFAULT_SLIPPAGE_BPS, networkRetryDelayMs = NETWORK_RETRY_DELAY_MS } = options;
  const { rpcTimeoutMs = 10_000, executor = 'direct', fetch = globalThis.fetch } = options;
  const rpcUrl = options.rpcUrl ?? process.env['RPC_URL'] ?? '';
  const problems: string[] = [];
  if (rpcUrl === '') problems.push('RPC_URL is missing: the address of a JSON-RPC endpoint');
  else if (!/^https?:\/\//i.test(rpcUrl) || !URL.canParse(rpcUrl)) problems.push('RPC_URL is no http or https URL');
  if (!['direct', 'sign-only', 'read-only'].includes(executor)) {
    problems.push('executor is one of direct, sign-only, read-only');
  }
  if (!Number.isInteger(slippageBps) || slippageBps < 0 || slippageBps > MAX_SLIPPAGE_BPS) {
    problems.push(`slippageBps is a whole number from 0 to ${MAX_SLIPPAGE_BPS}`);
  }
  if (!(networkRetryDelayMs >= 0)) problems.push('networkRetryDelayMs is a number of milliseconds');
  if (!(rpcTimeoutMs > 0)) problems.push('rpcTimeoutMs is a number of milliseconds above 0');
  if (problems.length > 0) {
    throw new AgentKitError('INVALID_CONFIGURATION', `The agent kit cannot start: ${problems.join('; ')}.`, {
      details: { problems },
    });
  }
  return { ...options, rpcUrl, slippageBps, networkRetryDelayMs, rpcTimeoutMs, executor, fetch };
}
