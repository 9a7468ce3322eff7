// The published packages' own verify and settle behind the facilitator's HTTP interface: `facilitator.mjs v1|v2`.
import Fastify from 'fastify';
import { createWalletClient, defineChain, http, publicActions } from 'viem';
import { nonceManager, privateKeyToAccount } from 'viem/accounts';

import { announce, configuration, networkV1, networkV2 } from './configuration.mjs';

const createFacilitator = { v1: createFacilitatorV1, v2: createFacilitatorV2 }[process.argv[2]];
if (!createFacilitator) throw new Error('Say which protocol version: facilitator.mjs v1|v2');

const facilitator = await createFacilitator(createRelayer(configuration));
const app = Fastify({ bodyLimit: 1 << 20 });
app.get('/supported', async () => facilitator.supported());
app.post('/verify', async ({ body }) => facilitator.verify(body.paymentPayload, body.paymentRequirements));
app.post('/settle', async ({ body }) => facilitator.settle(body.paymentPayload, body.paymentRequirements));
await app.listen({ port: 0, host: '127.0.0.1' });
announce(app.server.address().port);

async function createFacilitatorV1(relayer) {
  const { verify, settle } = await import('x402/facilitator');
  return {
    supported: () => ({ kinds: [{ x402Version: 1, scheme: 'exact', network: networkV1 }] }),
    verify: (payload, requirements) => verify(relayer, payload, requirements),
    settle: (payload, requirements) => settle(relayer, payload, requirements),
  };
}

async function createFacilitatorV2(relayer) {
  const { x402Facilitator } = await import('@x402/core/facilitator');
  const { registerExactEvmScheme } = await import('@x402/evm/exact/facilitator');
  const { toFacilitatorEvmSigner } = await import('@x402/evm');
  const facilitator = new x402Facilitator();
  registerExactEvmScheme(facilitator, {
    signer: toFacilitatorEvmSigner(Object.assign(relayer, { address: relayer.account.address })),
    networks: networkV2,
  });
  return {
    supported: () => facilitator.getSupported(),
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
  };
}

/**
 * The facilitator's wallet. Without viem's nonce manager parallel settlements collide on nonces and most of them
 * fail; the short polling interval keeps viem's four seconds from deciding the figures.
 */
function createRelayer({ rpcUrl, chainId, relayerKey }) {
  const chain = defineChain({
    id: chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const account = privateKeyToAccount(relayerKey, { nonceManager });
  return createWalletClient({ account, chain, transport: http(rpcUrl), pollingInterval: 10 }).extend(publicActions);
}
