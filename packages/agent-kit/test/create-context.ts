import { createPublicClient, http } from 'viem';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import type { OperationContext } from '../src/operations/define/operation.js';
import { createPaymentLimits } from '../src/payments/payment-limits.js';
import { findRegistry } from '../src/registry/find-registry.js';
import { createTokenResolver } from '../src/tokens/resolve-token.js';

/** The context of operations for the devnet's first account. Without protocols. */
export async function createContext(chain: Devnet): Promise<OperationContext> {
  const [first] = chain.accounts;
  if (!first) throw new Error('the devnet has no accounts');
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const registry = await findRegistry(client, chain.chainId);
  const tokens = createTokenResolver(client, registry.native, registry.tokens);
  const payments = createPaymentLimits(registry, tokens.listed);
  return {
    account: first.address,
    chainId: chain.chainId,
    chainName: registry.name,
    client,
    tokens,
    protocols: {
      require: (kind) => {
        throw new Error(`${kind} is not part of this test`);
      },
    },
    slippageBps: 100,
    explorerUrl: registry.explorerUrl,
    fetch: globalThis.fetch,
    payments,
  };
}
