import {
  EXACT_PROXY_ADDRESS,
  UPTO_PROXY_ADDRESS,
  type PaymentFailure,
  type SettleResponse,
  type VerifyResponse,
} from '@tollgate/protocol';
import type { SettlementResult, SignedPaymentVerdict } from '@tollgate/transport';

import { waitFor } from '../../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { readProblem } from '../../test/start-agents.js';
import { ASSET, PAY_TO, startGateway, type RunningGateway } from '../../test/start-gateway.js';
import { createHash, startRelay, type Relay } from '../../test/start-relay.js';

const PAYER = '0x1111111111111111111111111111111111111111';
const RELAYER = '0x2222222222222222222222222222222222222222';
const NETWORK = 'eip155:1328';
const MOST = '5000';

interface Wish {
  scheme?: 'exact' | 'upto';
  amount?: string;
  nonce?: bigint;
}

function ask({ scheme = 'upto', amount = MOST, nonce = BigInt(createHash()) }: Wish = {}) {
  const isMetered = scheme === 'upto';
  const paymentRequirements = {
    scheme,
    network: NETWORK,
    asset: ASSET,
    amount,
    payTo: PAY_TO,
    maxTimeoutSeconds: 60,
    extra: { name: 'USDC', version: '2', assetTransferMethod: 'permit2' },
  };
  const permit2Authorization = {
    from: PAYER,
    permitted: { token: ASSET, amount: MOST },
    spender: isMetered ? UPTO_PROXY_ADDRESS : EXACT_PROXY_ADDRESS,
    nonce: nonce.toString(),
    deadline: '9999999999',
    witness: { to: PAY_TO, validAfter: '0', ...(isMetered && { facilitator: RELAYER }) },
  };
  const payload = { signature: `0x${'12'.repeat(65)}`, permit2Authorization };
  const paymentPayload = { x402Version: 2, payload, accepted: { ...paymentRequirements, amount: MOST } };
  return { x402Version: 2, paymentPayload, paymentRequirements };
}

const refusal = (failure: PaymentFailure): SignedPaymentVerdict => ({ outcome: 'refused', failure, payer: PAYER });

describe('the facilitator settling permits', () => {
  let server: BorrowedRedis;
  let relay: Relay;
  let gateway: RunningGateway;

  beforeAll(async () => {
    server = await borrowRedis();
    relay = await startRelay(server.url);
    gateway = await startGateway(server.url, [], {
      FACILITATOR: 'true',
      FACILITATOR_PAY_TO: PAY_TO,
      FACILITATOR_MIN_BASE_UNITS: '1',
    });
  });

  afterAll(async () => {
    await gateway.stop();
    await relay.stop();
    await server.stop();
  });

  const post = (path: string, body: object) =>
    fetch(`${gateway.url}/facilitator/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  async function settle(body: object): Promise<SettleResponse> {
    const response = await post('settle', body);
    expect(response.status).toBe(200);
    return (await response.json()) as SettleResponse;
  }

  describe('with a charge of zero', () => {
    it('reports success without a transaction, as often as the request is repeated', async () => {
      const nonce = BigInt(createHash());
      const nothing = { success: true, payer: PAYER, transaction: '', network: NETWORK, amount: '0' };
      for (let turn = 0; turn < 2; turn++) expect(await settle(ask({ amount: '0', nonce }))).toEqual(nothing);
      expect(relay.asked).toEqual([]);
    });

    it('verifies the permit for its maximum', async () => {
      const nonce = BigInt(createHash());
      relay.looks.set(nonce.toString(), ({ terms, claim }) => {
        expect([terms.priceBaseUnits, claim]).toEqual([MOST, null]);
        return refusal('balance_too_low');
      });
      const refused = { success: false, errorReason: 'permit2_insufficient_balance', transaction: '', payer: PAYER };
      expect(await settle(ask({ amount: '0', nonce }))).toMatchObject(refused);
    });

    it('refuses a permit that was already settled', async () => {
      const nonce = BigInt(createHash());
      relay.moved.set(nonce.toString(), createHash());
      expect(await settle(ask({ amount: '0', nonce }))).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
      });
    });

    it('responds 503 when the verifier cannot decide', async () => {
      const nonce = BigInt(createHash());
      relay.looks.set(nonce.toString(), () => ({ outcome: 'unavailable', reason: 'chain' }));
      const response = await post('settle', ask({ amount: '0', nonce }));
      expect(await readProblem(response)).toEqual([503, 'verification_unavailable']);
    });
  });

  describe('while an amount is being settled', () => {
    const PENDING: SettlementResult = { outcome: 'pending', txHash: createHash() };

    // Prevents: a server gets a success for its amount, although the amount of another server was settled.
    it('settles that amount, and refuses another one', async () => {
      const nonce = BigInt(createHash());
      relay.settlements.set(nonce.toString(), () => PENDING);
      expect(await settle(ask({ amount: '7', nonce }))).toMatchObject({ errorReason: 'settlement_pending' });
      relay.settlements.clear();
      expect(await settle(ask({ amount: '900', nonce }))).toMatchObject({ errorReason: 'duplicate_settlement' });
      expect(await settle(ask({ amount: '7', nonce }))).toMatchObject({ success: true, amount: '7' });
    });

    it('settles another amount once the first has failed', async () => {
      const nonce = BigInt(createHash());
      relay.settlements.set(nonce.toString(), () => ({ outcome: 'failed', failure: 'balance_too_low', txHash: null }));
      expect(await settle(ask({ amount: '7', nonce }))).toMatchObject({ success: false });
      relay.settlements.clear();
      expect(await settle(ask({ amount: '5', nonce }))).toMatchObject({ success: true, amount: '5' });
    });

    it('reports success for the settled amount only', async () => {
      const nonce = BigInt(createHash());
      relay.looks.set(nonce.toString(), async (request) => {
        const verdict = await relay.claim(request);
        return verdict.outcome === 'claimed' ? { ...verdict, txHash: createHash(), amountBaseUnits: '7' } : verdict;
      });
      expect(await settle(ask({ amount: '900', nonce }))).toMatchObject({ errorReason: 'duplicate_settlement' });
      expect(await settle(ask({ amount: '7', nonce }))).toMatchObject({ success: true, amount: '7' });
    });
  });

  it.each<[PaymentFailure, string, string]>([
    ['signature_invalid', 'invalid_permit2_signature', 'invalid_permit2_signature'],
    ['recipient_mismatch', 'invalid_permit2_recipient_mismatch', 'invalid_permit2_recipient_mismatch'],
    ['spender_mismatch', 'invalid_permit2_spender', 'invalid_permit2_spender'],
    ['asset_mismatch', 'permit2_token_mismatch', 'permit2_token_mismatch'],
    ['amount_mismatch', 'permit2_amount_mismatch', 'permit2_amount_mismatch'],
    ['amount_too_low', 'permit2_amount_mismatch', 'permit2_amount_mismatch'],
    ['authorization_expired', 'permit2_deadline_expired', 'permit2_deadline_expired'],
    ['authorization_not_yet_valid', 'permit2_not_yet_valid', 'permit2_not_yet_valid'],
    ['balance_too_low', 'permit2_insufficient_balance', 'permit2_insufficient_balance'],
    ['permit2_allowance_missing', 'permit2_allowance_required', 'permit2_allowance_required'],
    ['permit2_missing', 'permit2_proxy_not_deployed', 'permit2_proxy_not_deployed'],
    ['simulation_failed', 'permit2_simulation_failed', 'permit2_simulation_failed'],
    ['payment_used', 'permit2_invalid_nonce', 'permit2_invalid_nonce'],
    ['settlement_failed', 'invalid_exact_evm_transaction_failed', 'invalid_upto_evm_transaction_failed'],
    ['facilitator_mismatch', 'upto_facilitator_mismatch', 'upto_facilitator_mismatch'],
  ])('gives the reason for %s that published facilitators give', async (failure, exact, upto) => {
    for (const [scheme, invalidReason] of [
      ['exact', exact],
      ['upto', upto],
    ] as const) {
      const nonce = BigInt(createHash());
      relay.looks.set(nonce.toString(), () => refusal(failure));
      const response = await post('verify', ask({ scheme, nonce }));
      expect(response.status).toBe(200);
      const invalid = { isValid: false, invalidReason, invalidMessage: failure, payer: PAYER };
      expect((await response.json()) as VerifyResponse).toEqual(invalid);
    }
  });

  it.each<[PaymentFailure, string]>([
    ['amount_too_low', 'invalid_upto_evm_payload_settlement_exceeds_amount'],
    ['payment_used', 'duplicate_settlement'],
  ])('gives a different reason for %s when settling', async (failure, errorReason) => {
    const nonce = BigInt(createHash());
    relay.looks.set(nonce.toString(), () => refusal(failure));
    expect(await settle(ask({ nonce }))).toMatchObject({ success: false, errorReason, transaction: '' });
  });
});

describe('the facilitator without a submitted transaction', () => {
  const PENDING: SettlementResult = { outcome: 'pending', txHash: null };
  let server: BorrowedRedis;
  let gateway: RunningGateway;
  /** Each has one short deadline, of the answer that does not come. */
  let hastySettle: RunningGateway;
  let hastyVerify: RunningGateway;

  beforeAll(async () => {
    server = await borrowRedis();
    const env = { FACILITATOR: 'true', FACILITATOR_PAY_TO: PAY_TO };
    gateway = await startGateway(server.url, [], env);
    hastySettle = await startGateway(server.url, [], { ...env, SETTLE_DEADLINE_MS: '500' });
    hastyVerify = await startGateway(server.url, [], { ...env, VERIFY_DEADLINE_MS: '1000', VERIFY_RETRY_MS: '500' });
  });

  afterAll(async () => {
    await Promise.all([gateway.stop(), hastySettle.stop(), hastyVerify.stop()]);
    await server.stop();
  });

  function askTransfer(nonce = createHash()) {
    const authorization = { from: PAYER, to: PAY_TO, value: MOST, nonce, validAfter: '0', validBefore: '9999999999' };
    const question = ask({ scheme: 'exact' });
    const payload = { signature: `0x${'12'.repeat(65)}`, authorization };
    return { ...question, paymentPayload: { ...question.paymentPayload, payload } };
  }

  const settle = (body: object, { url } = gateway) =>
    fetch(`${url}/facilitator/settle`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('responds 503 verification_unavailable while no relayer runs, and settles the same payment later', async () => {
    const without = await startRelay(server.url, { settles: false });
    let body = askTransfer();
    // Redis has half a second to take the request for a settlement back, which may be too short on a busy machine.
    await waitFor('a request is taken back', async () => {
      const nonce = createHash();
      body = askTransfer(nonce);
      const claimed = jest.fn(without.claim);
      without.looks.set(nonce, claimed);
      const response = await settle(body, hastySettle);
      expect(claimed).toHaveBeenCalled();
      expect(response.headers.get('retry-after')).toBe('2');
      const [status, code] = await readProblem(response);
      expect(status).toBe(503);
      expect(['verification_unavailable', 'settlement_pending']).toContain(code);
      return code === 'verification_unavailable';
    });
    await without.stop();
    // The request made without a relayer is not delivered later.
    const relay = await startRelay(server.url);
    try {
      const settled = await settle(body);
      expect(await settled.json()).toMatchObject({ success: true });
      expect(relay.asked).toHaveLength(1);
    } finally {
      await relay.stop();
    }
  });

  it('still lists its supported kinds, except for `upto`, which needs a relayer', async () => {
    const response = await fetch(`${gateway.url}/facilitator/supported`);
    expect(await response.json()).toEqual({
      kinds: [
        { x402Version: 1, scheme: 'exact', network: 'sei-testnet' },
        { x402Version: 2, scheme: 'exact', network: NETWORK },
      ],
      extensions: [],
      signers: { 'eip155:*': [] },
    });
  });

  it('responds 503 verification_unavailable while no verifier runs', async () => {
    expect(await readProblem(await settle(askTransfer(), hastyVerify))).toEqual([503, 'verification_unavailable']);
  });

  it('responds 503 settlement_pending for an accepted payment without a transaction', async () => {
    const relay = await startRelay(server.url);
    try {
      const nonce = createHash();
      relay.settlements.set(nonce, () => PENDING);
      const response = await settle(askTransfer(nonce));
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await readProblem(response)).toEqual([503, 'settlement_pending']);
      relay.settlements.delete(nonce);
      expect(await (await settle(askTransfer(nonce))).json()).toMatchObject({ success: true });
    } finally {
      await relay.stop();
    }
  });
});
