import { createPublicClient, http, HttpRequestError, type Address, type HttpTransport, type PublicClient } from 'viem';

import type { ParsedOptions } from './agent-kit-options.js';
import type { OperationContext } from './operations/operation.js';
import { createPaymentLimits } from './payments/payment-limits.js';
import { readTokenLimits, type TokenLimits } from './policy/token-limits.js';
import { createProtocolSet } from './protocols/create-protocol-set.js';
import { findRegistry } from './registry/find-registry.js';
import type { ChainRegistry } from './registry/registry.js';
import { createTokenResolver } from './tokens/resolve-token.js';

/** What a kit learns once from its chain. */
export interface Connection {
  context: OperationContext;
  registry: ChainRegistry;
  limits: TokenLimits;
}

export function createClient({ rpcUrl, rpcTimeoutMs }: ParsedOptions): PublicClient {
  // No retries and no cache of viem's own: what is tried again, and when, is decided in one place here.
  const transport = http(rpcUrl, { timeout: rpcTimeoutMs, retryCount: 0 });
  return createPublicClient({ transport: refuseGarbage(transport, rpcUrl), cacheTime: 0 });
}

/** JSON that is no JSON-RPC answer is no answer; viem reads it as a result of undefined. */
function refuseGarbage(transport: HttpTransport, url: string): HttpTransport {
  return (parameters) => {
    const { request, ...rest } = transport(parameters);
    const requestStrictly = async (...args: Parameters<typeof request>): Promise<unknown> => {
      const result: unknown = await request(...args);
      if (result === undefined) throw new HttpRequestError({ url, details: 'The answer has no result.' });
      return result;
    };
    return { ...rest, request: requestStrictly as typeof request };
  };
}

export async function connect(client: PublicClient, account: Address, options: ParsedOptions): Promise<Connection> {
  const chainId = await client.getChainId();
  const registry = options.registry ?? (await findRegistry(client, chainId));
  const tokens = createTokenResolver(client, registry.native, [...registry.tokens, ...(options.tokens ?? [])]);
  const payments = createPaymentLimits(registry, tokens.listed, options.payments);
  const environment = { chainId, client, tokens, fetch: options.fetch };
  return {
    registry,
    limits: await readTokenLimits(options.policy, tokens),
    context: {
      ...environment,
      account,
      protocols: createProtocolSet(environment, registry, options.plugins ?? []),
      slippageBps: options.slippageBps,
      explorerUrl: options.explorerUrl ?? registry.explorerUrl,
      ...(payments ? { payments } : {}),
    },
  };
}
