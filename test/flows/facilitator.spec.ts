import { ApiKeyStore } from '@tollgate/http';
import type { SettleResponse, SupportedResponse, VerifyResponse } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import type { Hex } from 'viem';

import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { gainOf } from '../harness/payments/gain-of.js';
import { waitForPool } from '../harness/payments/wait-for-pool.js';
import { waitFor } from '../harness/retry.js';
import { useStack } from '../harness/stack/use-stack.js';

const PRICE = '1000';
const SHOP: Hex = '0x5555555555555555555555555555555555555555';
const STRANGER: Hex = '0x6666666666666666666666666666666666666666';

describe('the facilitator, with a chain', () => {
  const stack = useStack({
    gateways: 2,
    env: {
      FACILITATOR: 'true',
      FACILITATOR_PAY_TO: SHOP,
      FACILITATOR_RATE_LIMIT_PER_MINUTE: '0',
      SIGNED_PAYMENTS: 'true',
      // A settlement ends within this deadline, on a busy machine too.
      SETTLE_DEADLINE_MS: '30000',
      LEASE_MS: '1000',
      RELAYER_POLL_MS: '20',
    },
  });
  let token: string;

  beforeAll(async () => {
    const redis = new Redis(stack().redis.url);
    ({ token } = await new ApiKeyStore(redis).create({ name: 'shop', scopes: ['settle'], wallets: [] }));
    redis.disconnect();
  });

  /** The request of a server about a payment that its payer signed. */
  async function createQuestion({ version = 2, payTo = SHOP }: { version?: 1 | 2; payTo?: Hex } = {}) {
    const { chain } = stack();
    const terms = { value: PRICE, to: payTo };
    const { signature, authorization } = await signAuthorization(chain, chain.accounts[0]!, terms);
    const payload = { signature, authorization };
    const token = { asset: chain.asset, extra: { name: 'USDC', version: '2' } };
    const common = { scheme: 'exact', ...token, payTo, maxTimeoutSeconds: 300 };
    if (version === 2) {
      const paymentRequirements = { ...common, network: 'eip155:1328', amount: PRICE };
      const paymentPayload = { x402Version: 2, payload, accepted: paymentRequirements };
      return { x402Version: 2, paymentPayload, paymentRequirements };
    }
    const network = 'sei-testnet';
    const texts = { resource: 'https://shop.example/', description: '', mimeType: '' };
    return {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network, payload },
      paymentRequirements: { ...common, ...texts, network, maxAmountRequired: PRICE },
    };
  }

  function post(path: string, body: object, headers: Record<string, string> = {}, gateway = 0): Promise<Response> {
    return fetch(`${stack().gateways[gateway]!.url}/facilitator/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  const verify = async (body: object) => (await (await post('verify', body)).json()) as VerifyResponse;
  const settle = async (body: object, headers: Record<string, string> = {}, gateway = 0) =>
    (await (await post('settle', body, headers, gateway)).json()) as SettleResponse;
  const withKey = () => ({ Authorization: `Bearer ${token}` });
  const call = (method: string, params: unknown[] = []) => callRpc(stack().chain.rpcUrl, method, params);

  const moved = (to: Hex, work: () => Promise<unknown>) => gainOf(stack().chain, to, work);

  it.each([1, 2] as const)('verifies and settles a payment of version %s, once', async (version) => {
    const question = await createQuestion({ version });
    const payer = stack().chain.accounts[0]!.address.toLowerCase();
    const sum = await moved(SHOP, async () => {
      expect(await verify(question)).toEqual({ isValid: true, payer });
      const settled = await settle(question);
      const { network } = question.paymentRequirements;
      expect(settled).toMatchObject({ success: true, payer, network, amount: PRICE });
      const receipt = (await call('eth_getTransactionReceipt', [settled.transaction])) as { status: Hex };
      expect(receipt.status).toBe('0x1');
      for (const gateway of [0, 1]) {
        const again = await settle(question, {}, gateway);
        expect(again).toMatchObject({ success: false, errorReason: 'duplicate_settlement', transaction: '' });
      }
      const used = version === 1 ? 'duplicate_settlement' : 'invalid_exact_evm_nonce_already_used';
      expect(await verify(question)).toMatchObject({ isValid: false, invalidReason: used });
    });
    expect(sum).toBe(1000n);
  });

  it('lists the addresses of its relayers', async () => {
    const { signers } = (await (await fetch(`${stack().baseUrl}/facilitator/supported`)).json()) as SupportedResponse;
    expect(signers).toEqual({ 'eip155:*': [stack().chain.relayers[0]!.address.toLowerCase()] });
    const { transaction } = await settle(await createQuestion());
    const { from } = (await call('eth_getTransactionByHash', [transaction])) as { from: Hex };
    expect(signers['eip155:*']).toContain(from.toLowerCase());
  });

  it('settles for other recipients only with an API key', async () => {
    const question = await createQuestion({ payTo: STRANGER });
    const without = await moved(STRANGER, async () => expect((await post('settle', question)).status).toBe(401));
    expect(without).toBe(0n);
    const withIt = await moved(STRANGER, async () =>
      expect(await settle(question, withKey())).toMatchObject({ success: true }),
    );
    expect(withIt).toBe(1000n);
  });

  it('moves one payment once for twenty requests at once, at two gateways', async () => {
    const question = await createQuestion();
    const sum = await moved(SHOP, async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, turn) => settle(question, {}, turn % 2)));
      expect(answers.filter(({ success }) => success)).toHaveLength(1);
      const reasons = new Set(answers.flatMap(({ errorReason }) => errorReason ?? []));
      for (const reason of reasons) expect(['settlement_pending', 'duplicate_settlement']).toContain(reason);
    });
    expect(sum).toBe(1000n);
  });

  it('answers the repeated request after its gateway died, and moves nothing twice', async () => {
    const question = await createQuestion();
    const [first] = stack().gateways;
    // It must not answer before it is killed.
    await first!.restart({ SETTLE_DEADLINE_MS: '30000' });
    await call('evm_setAutomine', [false]);
    const sum = await moved(SHOP, async () => {
      const lost = settle(question).catch(() => 'lost');
      await waitForPool(stack().chain.rpcUrl);
      await first!.kill();
      expect(await lost).toBe('lost');
      await call('evm_mine');
      await call('evm_setAutomine', [true]);
      const settled = await settleUntilKnown(question, 1);
      expect(settled).toMatchObject({ success: true });
      expect(await settle(question, {}, 1)).toMatchObject({ errorReason: 'duplicate_settlement' });
    });
    expect(sum).toBe(1000n);
  });

  /** Repeats while the settlement is pending: the lease of a killed process has to end first. */
  async function settleUntilKnown(question: object, gateway: number): Promise<SettleResponse> {
    let answer = await settle(question, {}, gateway);
    await waitFor('the settlement is known', async () => {
      if (answer.errorReason === 'settlement_pending') answer = await settle(question, {}, gateway);
      return answer.errorReason !== 'settlement_pending';
    });
    return answer;
  }
});
