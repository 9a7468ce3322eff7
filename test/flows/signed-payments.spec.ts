import {
  challengeNonce,
  encodeProof,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';

import {
  presentMpp,
  presentV1,
  presentV2,
  readChallenge,
  readHeader,
} from '../../apps/gateway/test/present-payments.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { outcomeOf } from '../harness/payments/pay.js';
import { useStack } from '../harness/stack/use-stack.js';

const stack = useStack({ relayers: 1, env: { SIGNED_PAYMENTS: 'true' } });
const url = () => `${stack().baseUrl}/api/weather`;

/**
 * Signed by a payer of the devnet, over the weather's price by default; addresses with checksums, as wallets write
 * them.
 */
function sign(changes: Partial<TransferAuthorization> = {}): Promise<SignedAuthorization> {
  const { chain } = stack();
  const [payer] = chain.accounts;
  return signAuthorization(chain, payer!, { value: '1000', from: payer!.address, to: chain.payTo, ...changes });
}

describe('a payer that only signs', () => {
  it('buys by x402 version 1, and the transaction that settled it buys nothing more', async () => {
    const paid = await fetch(url(), { headers: presentV1(await sign()) });
    expect(paid.status).toBe(200);
    const { success, transaction } = readHeader(paid, 'x-payment-response');
    expect([success, transaction]).toEqual([true, expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
    const proof = encodeProof({
      x402Version: 1,
      scheme: 'exact',
      network: 'chain-testnet',
      payload: { txHash: transaction as Hex },
    });
    expect(await outcomeOf(fetch(url(), { headers: { 'X-Payment': proof } }))).toEqual([402, 'payment_used']);
  });

  it('buys by x402 version 2, and gets the same answer again', async () => {
    const headers = presentV2(await readChallenge(url()), await sign());
    const [first, again] = [await fetch(url(), { headers }), await fetch(url(), { headers })];
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 200, 'true']);
    expect(again.headers.get('payment-response')).toBe(first.headers.get('payment-response'));
    expect(await again.text()).toBe(await first.text());
  });

  it('buys by MPP', async () => {
    const challenge = await readChallenge(url());
    const { id = '', realm = '' } = challenge.authentication;
    const payment = await sign({ nonce: challengeNonce({ id, realm }) });
    const paid = await fetch(url(), { headers: presentMpp(challenge, payment) });
    expect(paid.status).toBe(200);
    expect(readHeader(paid, 'payment-receipt')).toMatchObject({ status: 'success', method: 'evm' });
  });

  it('is refused on another network', async () => {
    expect(await outcomeOf(fetch(url(), { headers: presentV1(await sign(), 'base') }))).toEqual([402, 'wrong_network']);
  });
});
