import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import type { Devnet, DevnetAccount } from '../../../devnet/chain.js';
import type { OperationContext } from '../src/operations/operation.js';
import { createPaymentLimits } from '../src/payments/payment-limits.js';
import type { PlanDraft } from '../src/plan/plan.js';
import { findRegistry } from '../src/registry/find-registry.js';
import { createTokenResolver } from '../src/tokens/resolve-token.js';

/** What operations look at, for the devnet's first account. Without protocols. */
export async function createContext(chain: Devnet): Promise<OperationContext> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const registry = await findRegistry(client, chain.chainId);
  const tokens = createTokenResolver(client, registry.native, registry.tokens);
  const payments = createPaymentLimits(registry, tokens.listed);
  return {
    account: firstAccount(chain).address,
    chainId: chain.chainId,
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
    ...(payments && { payments }),
  };
}

/** Sends the steps of a draft one after the other, from the devnet's first account; each is mined when this resolves. */
export async function sendSteps(chain: Devnet, { client }: OperationContext, { steps }: PlanDraft): Promise<void> {
  const account = privateKeyToAccount(firstAccount(chain).privateKey);
  const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) });
  for (const { to, data, value } of steps) {
    const hash = await wallet.sendTransaction({ to, data, value, chain: null });
    const { status } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    if (status !== 'success') throw new Error(`${hash} reverted`);
  }
}

function firstAccount({ accounts }: Devnet): DevnetAccount {
  const [first] = accounts;
  if (!first) throw new Error('the devnet has no accounts');
  return first;
}
