import { ApiKeyStore } from '@tollgate/http';
import {
  encodeProof,
  type Hex,
  type SettleResponse,
  type SignedPayment,
  type VerifyResponse,
} from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { presentV1, presentV2, readChallenge, readHeader } from '../../apps/gateway/test/present-payments.js';
import { readProblem } from '../../apps/gateway/test/start-agents.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { approvePermit2, signPermit } from '../harness/chain/sign-permit.js';
import { gainOf } from '../harness/payments/gain-of.js';
import { useStack } from '../harness/stack/use-stack.js';

const PRICE = '1000';

describe('one payment, at the facilitator and at the paywall', () => {
  const stack = useStack({ env: { FACILITATOR: 'true', SIGNED_PAYMENTS: 'true', RELAYER_POLL_MS: '20' } });
  const resource = () => `${stack().baseUrl}/api/weather`;
  let token: string;

  beforeAll(async () => {
    const redis = new Redis(stack().redis.url);
    ({ token } = await new ApiKeyStore(redis).create({ name: 'shop', scopes: ['settle'], wallets: [] }));
    redis.disconnect();
  });

  const sign = () => signAuthorization(stack().chain, stack().chain.accounts[0]!, { value: PRICE });

  async function ask<T>(path: 'verify' | 'settle', payment: SignedPayment, amount = PRICE): Promise<T> {
    const { asset, payTo } = stack().chain;
    const scheme = payment.kind === 'permit2' ? payment.scheme : 'exact';
    const paymentRequirements = {
      scheme,
      network: 'eip155:1328',
      asset,
      amount,
      payTo,
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    };
    const paymentPayload = { x402Version: 2, payload: payment, accepted: paymentRequirements };
    const response = await fetch(`${stack().baseUrl}/facilitator/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  }

  const settle = (payment: SignedPayment, amount?: string) => ask<SettleResponse>('settle', payment, amount);

  const moved = (work: () => Promise<unknown>) => gainOf(stack().chain, stack().chain.payTo, work);

  it('buys nothing at the paywall once the facilitator has settled it, in any form', async () => {
    const payment = await sign();
    const challenge = await readChallenge(resource());
    const sum = await moved(async () => {
      const { success, transaction } = await settle(payment);
      expect(success).toBe(true);
      const proof = { x402Version: 1, scheme: 'exact', network: 'chain-testnet' } as const;
      for (const headers of [
        presentV1(payment),
        presentV2(challenge, payment),
        { 'X-Payment': encodeProof({ ...proof, payload: { txHash: transaction as Hex } }) },
      ]) {
        const response = await fetch(resource(), { headers });
        expect(await readProblem(response)).toEqual([409, 'payment_for_other_request']);
      }
    });
    expect(sum).toBe(1000n);
  });

  it('is not settled by the facilitator once it has bought something at the paywall', async () => {
    const payment = await sign();
    const sum = await moved(async () => {
      const paid = await fetch(resource(), { headers: presentV1(payment) });
      expect([paid.status, readHeader(paid, 'x-payment-response').success]).toEqual([200, true]);
      expect(await settle(payment)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
      const invalid = { isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' };
      expect(await ask<VerifyResponse>('verify', payment)).toMatchObject(invalid);
    });
    expect(sum).toBe(1000n);
  });

  it('stays valid where nothing of it was used, and moves the used amount', async () => {
    const { chain } = stack();
    const [, payer] = chain.accounts;
    await approvePermit2(chain, { owner: payer!.address });
    const payment = await signPermit(chain, payer!, {
      amountBaseUnits: 5000n,
      facilitator: chain.relayers[0]!.address,
      deadline: BigInt(Math.floor(Date.now() / 1000) + 300),
    });
    const address = payer!.address.toLowerCase();
    const sum = await moved(async () => {
      const nothing = { success: true, payer: address, transaction: '', network: 'eip155:1328', amount: '0' };
      for (let turn = 0; turn < 2; turn++) expect(await settle(payment, '0')).toEqual(nothing);
      const tooMuch = 'invalid_upto_evm_payload_settlement_exceeds_amount';
      expect(await settle(payment, '5001')).toMatchObject({ success: false, errorReason: tooMuch });
      expect(await settle(payment, '700')).toMatchObject({ success: true, amount: '700' });
      for (const amount of ['0', '700']) {
        expect(await settle(payment, amount)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
      }
    });
    expect(sum).toBe(700n);
  });
});
