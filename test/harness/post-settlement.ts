import type { SettleResponse, SignedPayment } from '@tollgate/protocol';

import type { Devnet } from '../../devnet/chain.js';

/** Has a facilitator settle a payment of the devnet's token to its recipient, in the words of version 2. */
export async function postSettlement(baseUrl: string, chain: Devnet, payment: SignedPayment): Promise<SettleResponse> {
  const { asset, payTo, chainId } = chain;
  const amount =
    payment.kind === 'permit2' ? payment.permit2Authorization.permitted.amount : payment.authorization.value;
  const paymentRequirements = {
    ...{ scheme: 'exact', network: `eip155:${chainId}`, asset, payTo, amount, maxTimeoutSeconds: 300 },
    extra: { name: 'USDC', version: '2' },
  };
  const paymentPayload = { x402Version: 2, payload: payment, accepted: paymentRequirements };
  const response = await fetch(`${baseUrl}/facilitator/settle`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements }),
  });
  const body: unknown = await response.json();
  if (response.status !== 200) throw new Error(`the facilitator answered ${response.status}: ${JSON.stringify(body)}`);
  return body as SettleResponse;
}
