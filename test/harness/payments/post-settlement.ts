import { signedAmountOf, type SettleResponse, type SignedPayment } from '@tollgate/protocol';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { waitFor } from '../retry.js';

const NOT_YET = ['settlement_pending', 'verification_unavailable'];

/**
 * Requests the settlement of a payment of the devnet's token to its recipient, with x402 version 2. Repeats the request
 * while the answer is 503: the payment is in no transaction yet, or a busy machine did not get to the request in time.
 */
export async function postSettlement(baseUrl: string, chain: Devnet, payment: SignedPayment): Promise<SettleResponse> {
  const { asset, payTo, chainId } = chain;
  const amount = signedAmountOf(payment);
  const paymentRequirements = {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    asset,
    payTo,
    amount,
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', version: '2' },
  };
  const paymentPayload = { x402Version: 2, payload: payment, accepted: paymentRequirements };
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements });
  let settled: SettleResponse | undefined;
  await waitFor('the payment is in a transaction', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${baseUrl}/facilitator/settle`, { method: 'POST', headers, body });
    const answer = (await response.json()) as SettleResponse & { code?: string };
    if (response.status === 503 && NOT_YET.some((code) => code === answer.code)) return false;
    if (response.status !== 200) throw new Error(`${baseUrl} answered ${response.status}: ${JSON.stringify(answer)}`);
    settled = answer;
    return true;
  });
  return settled!;
}
