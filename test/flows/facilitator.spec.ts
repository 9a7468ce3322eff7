import { ApiKeyStore } from '@tollgate/http';
import type { SettleResponse, SupportedResponse, TransferAuthorization, VerifyResponse } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';

import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { waitFor } from '../harness/retry.js';
import { useStack } from '../harness/stack/use-stack.js';

const PRICE = '1000';
const SHOP: Hex = '0x5555555555555555555555555555555555555555';
const STRANGER: Hex = '0x6666666666666666666666666666666666666666';

interface Terms {
  version?: 1 | 2;
  payTo?: Hex;
  asset?: Hex;
  amount?: string;
  /** The authorization's fields that are signed differently from the terms. */
  signed?: Partial<TransferAuthorization>;
  payer?: DevnetAccount;
}

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
  async function createQuestion({ version = 2, payTo = SHOP, amount = PRICE, signed = {}, ...terms }: Terms = {}) {
    const { chain } = stack();
    const { asset = chain.asset, payer = chain.accounts[0]! } = terms;
    const { signature, authorization } = await signAuthorization(chain, payer, { value: amount, to: payTo, ...signed });
    const payload = { signature, authorization };
    const common = { scheme: 'exact', asset, payTo, maxTimeoutSeconds: 300, extra: { name: 'USDC', version: '2' } };
    if (version === 2) {
      const paymentRequirements = { ...common, network: 'eip155:1328', amount };
      const paymentPayload = { x402Version: 2, payload, accepted: paymentRequirements };
      return { x402Version: 2, paymentPayload, paymentRequirements };
    }
    const network = 'sei-testnet';
    const texts = { resource: 'https://shop.example/', description: '', mimeType: '' };
    return {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network, payload },
      paymentRequirements: { ...common, ...texts, network, maxAmountRequired: amount },
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

  async function balanceOf(owner: Hex): Promise<bigint> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
    return BigInt((await call('eth_call', [{ to: stack().chain.asset, data }, 'latest'])) as Hex);
  }

  /** Runs the work, and returns the amount that it moved to a recipient. */
  async function moved(to: Hex, work: () => Promise<void>): Promise<bigint> {
    const before = await balanceOf(to);
    await work();
    return (await balanceOf(to)) - before;
  }

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

  it('settles twenty payments of many payers at once', async () => {
    const { accounts } = stack().chain;
    const questions = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => createQuestion({ payer: accounts[turn % accounts.length]! })),
    );
    const sum = await moved(SHOP, async () => {
      const answers = await Promise.all(questions.map((question, turn) => settle(question, {}, turn % 2)));
      expect(answers.map(({ success }) => success)).toEqual(Array.from({ length: 20 }, () => true));
    });
    expect(sum).toBe(20_000n);
  });

  it.each<[string, () => Terms, string, string]>([
    [
      'too little',
      () => ({ signed: { value: '999' } }),
      'invalid_exact_evm_payload_authorization_value',
      'invalid_exact_evm_payload_authorization_value_mismatch',
    ],
    [
      'more than asked',
      () => ({ signed: { value: '1001' } }),
      'invalid_exact_evm_payload_authorization_value',
      'invalid_exact_evm_payload_authorization_value_mismatch',
    ],
    [
      'another recipient',
      () => ({ signed: { to: STRANGER } }),
      'invalid_exact_evm_payload_recipient_mismatch',
      'invalid_exact_evm_recipient_mismatch',
    ],
    [
      'a payer other than the signer',
      () => ({ signed: { from: STRANGER } }),
      'invalid_exact_evm_payload_signature',
      'invalid_exact_evm_signature',
    ],
    [
      'an end that is past',
      () => ({ signed: { validBefore: '1' } }),
      'invalid_exact_evm_payload_authorization_valid_before',
      'invalid_exact_evm_payload_authorization_valid_before',
    ],
    [
      'a beginning that is ahead',
      () => ({ signed: { validAfter: '9999999999', validBefore: '99999999999' } }),
      'invalid_exact_evm_payload_authorization_valid_after',
      'invalid_exact_evm_payload_authorization_valid_after',
    ],
    [
      'more than the payer has',
      () => ({ amount: '9000000000000' }),
      'insufficient_funds',
      'invalid_exact_evm_insufficient_balance',
    ],
    [
      'a token that is not settled',
      () => ({ asset: STRANGER }),
      'invalid_payment_requirements',
      'invalid_payment_requirements',
    ],
  ])('moves nothing for %s', async (_name, terms, v1, v2) => {
    const sum = await moved(SHOP, async () => {
      for (const [version, reason] of [
        [1, v1],
        [2, v2],
      ] as const) {
        const question = await createQuestion({ version, ...terms() });
        expect(await verify(question)).toMatchObject({ isValid: false, invalidReason: reason });
        expect(await settle(question)).toMatchObject({ success: false, errorReason: reason, transaction: '' });
      }
    });
    expect(sum).toBe(0n);
  });

  describe('while the chain makes no blocks', () => {
    beforeEach(() => call('evm_setAutomine', [false]));
    afterEach(() => call('evm_setAutomine', [true]));

    it('reports that a settlement is pending, and reports its end once, to a repeated request', async () => {
      await stack().gateways[0]!.restart({ SETTLE_DEADLINE_MS: '2000' });
      const question = await createQuestion();
      const sum = await moved(SHOP, async () => {
        let transaction = '';
        await waitFor('its hash', async () => {
          const response = await post('settle', question);
          // A busy machine has put it into no transaction yet: the payer is to repeat its request.
          if (response.status === 503) return false;
          const pending = (await response.json()) as SettleResponse;
          expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' });
          ({ transaction } = pending);
          return transaction !== '';
        });
        expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
        await call('evm_mine');
        await call('evm_setAutomine', [true]);
        const settled = await settle(question, {}, 1);
        expect(settled).toMatchObject({ success: true, transaction });
        expect(await settle(question)).toMatchObject({ errorReason: 'duplicate_settlement' });
      });
      expect(sum).toBe(1000n);
    });

    it('answers the repeated request after its gateway died, and moves nothing twice', async () => {
      const question = await createQuestion();
      const [first] = stack().gateways;
      // It must not answer before it is killed.
      await first!.restart({ SETTLE_DEADLINE_MS: '30000' });
      const sum = await moved(SHOP, async () => {
        const lost = settle(question).catch(() => 'lost');
        await waitForPool();
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
  });

  async function waitForPool(): Promise<void> {
    await waitFor('the settlement is in the pool', async () => {
      const { pending } = (await call('txpool_status')) as { pending: Hex };
      return BigInt(pending) > 0n;
    });
  }

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
