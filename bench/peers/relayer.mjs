import { createWalletClient, defineChain, http, publicActions } from 'viem';
import { nonceManager, privateKeyToAccount } from 'viem/accounts';

/**
 * The facilitator's wallet. Without viem's nonce manager parallel settlements collide on nonces and most of them
 * fail; the short polling interval keeps viem's four seconds from deciding the figures.
 */
export function createRelayer({ rpcUrl, chainId, relayerKey }) {
  const chain = defineChain({
    id: chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const account = privateKeyToAccount(relayerKey, { nonceManager });
  return createWalletClient({ account, chain, transport: http(rpcUrl), pollingInterval: 10 }).extend(publicActions);
}
