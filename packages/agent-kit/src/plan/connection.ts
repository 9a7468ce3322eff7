import { createRpcTransport } from '@tollgate/client';
import { joinTransports, POLLING, readFromBlock } from '@tollgate/client/internal';
import { createPublicClient, HttpRequestError, type Address, type HttpTransport, type PublicClient } from 'viem';

import type { FurtherChains, OperationContext } from '../operations/define/operation.js';
import { createPaymentLimits } from '../payments/payment-limits.js';
import { assertPolicy } from '../policy/assert-policy.js';
import { DailySpending, listSpending } from '../policy/spending.js';
import { readTokenLimits, type TokenLimits } from '../policy/token-limits.js';
import { createProtocolSet } from '../registry/create-protocol-set.js';
import { findRegistry } from '../registry/find-registry.js';
import type { ParsedOptions } from '../settings/agent-kit-options.js';
import { createTokenResolver } from '../tokens/resolve-token.js';

/** Facts about the chain that a kit reads once. */
export interface Connection {
  context: OperationContext;
  limits: TokenLimits;
  /** What the account has spent on this chain. */
  spending: DailySpending;
}

/** @param floor the block that reads of the latest state must see; null: none */
export function createClient(options: ParsedOptions, floor: () => bigint | null): PublicClient {
  const { rpcUrl, otherRpcUrls, rpcTimeoutMs, rpcBatchSize, monitor } = options;
  const transports = [rpcUrl, ...otherRpcUrls].map((url) => {
    // viem's own retries and cache are off: retries are decided in one place here.
    const batch = rpcBatchSize > 1 && { batchSize: rpcBatchSize };
    return refuseGarbage(createRpcTransport(url, { timeout: rpcTimeoutMs, retryCount: 0, batch }), url);
  });
  const transport = readFromBlock(joinTransports(transports), floor, { ...POLLING, ...monitor });
  return createPublicClient({ transport, cacheTime: 0 });
}

/** JSON that is not a JSON-RPC answer counts as no answer; viem would read it as the result undefined. */
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

/** @param elsewhere the further chains for payments; null for one of these */
export async function connect(
  client: PublicClient,
  account: Address,
  options: ParsedOptions,
  elsewhere: (() => Promise<FurtherChains>) | null,
): Promise<Connection> {
  const chainId = await client.getChainId();
  const registry = options.registry ?? (await findRegistry(client, chainId));
  const tokens = createTokenResolver(client, registry.native, registry.tokens, options.tokens);
  const { chains = [], ...settings } = options.payments ?? {};
  const payments = createPaymentLimits(registry, tokens.listed, settings);
  const environment = { chainId, client, tokens, fetch: options.fetch };
  const limits = await readTokenLimits(options.policy, tokens, {
    chainId,
    isOwn: elsewhere !== null,
    isOnly: elsewhere !== null && chains.length === 0,
  });
  return {
    limits,
    spending: new DailySpending(),
    context: {
      ...environment,
      account,
      chainName: registry.name,
      protocols: createProtocolSet(environment, registry, options.plugins ?? []),
      slippageBps: options.slippageBps,
      explorerUrl: options.explorerUrl ?? registry.explorerUrl,
      payments,
      ...(elsewhere ? { elsewhere } : {}),
      assertAllowed: (operation, draft) =>
        assertPolicy({ ...draft, operation }, listSpending(draft, tokens.native), options.policy, limits),
    },
  };
}
