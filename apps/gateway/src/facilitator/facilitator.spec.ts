import { setTimeout as sleep } from 'node:timers/promises';

import { ApiKeyStore } from '@tollgate/http';
import { createLaneId, Journal, RELAYER_FLEET } from '@tollgate/journal';
import type { Hex, PaymentFailure, SettleResponse, VerifyResponse } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { readEvents } from '../../../../libs/ledger/test/read-events.js';
import { startTcpProxy } from '../../../../test/harness/network/tcp-proxy.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { readProblem } from '../../test/start-agents.js';
import { ASSET, PAY_TO, send, startGateway, type RunningGateway } from '../../test/start-gateway.js';
import { createHash, startRelay, type Relay } from '../../test/start-relay.js';

const PAYER = '0x1111111111111111111111111111111111111111';
const OTHER_ASSET = '0x3333333333333333333333333333333333333333';
const STRANGER = '0x2222222222222222222222222222222222222222';
const [V1, V2] = ['sei-testnet', 'eip155:1328'];
const PAYLOAD = 'invalid_exact_evm_payload';

interface Wish {
  nonce?: string;
  payTo?: string;
  asset?: string;
  amount?: string;
  scheme?: string;
  network?: string;
  extra?: { name?: string; version?: string };
}

function askV2({ nonce = createHash(), payTo = PAY_TO, asset = ASSET, amount = '1000', ...wish }: Wish = {}) {
  const { scheme = 'exact', network = V2, extra = {} } = wish;
  const paymentRequirements = { scheme, network, asset, amount, payTo, maxTimeoutSeconds: 60, extra };
  const paymentPayload = { x402Version: 2, payload: payloadOf(nonce, payTo, amount), accepted: paymentRequirements };
  return { x402Version: 2, paymentPayload, paymentRequirements };
}

function askV1({ nonce = createHash(), payTo = PAY_TO, asset = ASSET, amount = '1000', ...wish }: Wish = {}) {
  const { scheme = 'exact', network = V1 } = wish;
  const texts = { resource: 'https://shop.example/', description: '', mimeType: '' };
  const paymentRequirements = {
    scheme,
    network,
    asset,
    payTo,
    maxAmountRequired: amount,
    maxTimeoutSeconds: 60,
    ...texts,
  };
  const paymentPayload = { x402Version: 1, scheme, network, payload: payloadOf(nonce, payTo, amount) };
  return { x402Version: 1, paymentPayload, paymentRequirements };
}

function payloadOf(nonce: string, to: string, value: string) {
  const authorization = { from: PAYER, to, value, validAfter: '0', validBefore: '9999999999', nonce };
  return { signature: `0x${'12'.repeat(65)}`, authorization };
}

describe('the facilitator', () => {
  let server: BorrowedRedis;
  let redis: Redis;
  let relay: Relay;
  let gateway: RunningGateway;
  let token: string;

  beforeAll(async () => {
    server = await borrowRedis();
    redis = new Redis(server.url);
    relay = await startRelay(server.url);
    const keys = new ApiKeyStore(redis);
    ({ token } = await keys.create({ name: 'shop', scopes: ['settle'], wallets: [] }));
    gateway = await startGateway(server.url, [], {
      FACILITATOR: 'true',
      FACILITATOR_PAY_TO: PAY_TO,
      BOOK: 'on',
      FACILITATOR_ASSETS: `${OTHER_ASSET}:Other Coin:3`,
    });
  });

  afterAll(async () => {
    await gateway.stop();
    await relay.stop();
    redis.disconnect();
    await server.stop();
  });

  function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${gateway.url}/facilitator/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  async function verify(body: unknown): Promise<VerifyResponse> {
    const response = await post('verify', body);
    expect(response.status).toBe(200);
    return (await response.json()) as VerifyResponse;
  }

  async function settle(body: unknown, headers: Record<string, string> = {}): Promise<SettleResponse> {
    const response = await post('settle', body, headers);
    expect(response.status).toBe(200);
    return (await response.json()) as SettleResponse;
  }

  describe.each([
    [1, askV1, V1],
    [2, askV2, V2],
  ] as const)('for version %s', (version, ask, network) => {
    it('verifies a payment without claiming it', async () => {
      const body = ask();
      for (let turn = 0; turn < 2; turn++) expect(await verify(body)).toEqual({ isValid: true, payer: PAYER });
      const numbers = JSON.stringify(body).replace(/"(value|valid\w+|amount|maxAmountRequired)":"(\d+)"/g, '"$1":$2');
      expect(await verify(numbers)).toEqual({ isValid: true, payer: PAYER });
      expect((await settle(body)).success).toBe(true);
    });

    it('settles a payment once, and reports its success only once', async () => {
      const nonce = createHash();
      const settled = await settle(ask({ nonce }));
      const transaction = relay.moved.get(nonce);
      expect(settled).toEqual({ success: true, payer: PAYER, transaction, network, amount: '1000' });
      expect(await settle(ask({ nonce }))).toEqual({
        success: false,
        errorReason: 'duplicate_settlement',
        errorMessage: 'payment_used',
        payer: PAYER,
        transaction: '',
        network,
      });
      const invalidReason = version === 1 ? 'duplicate_settlement' : 'invalid_exact_evm_nonce_already_used';
      expect(await verify(ask({ nonce }))).toMatchObject({ isValid: false, invalidReason });
    });

    it('settles one of twenty requests for the same payment', async () => {
      const body = ask();
      const answers = await Promise.all(Array.from({ length: 20 }, () => settle(body)));
      const reasons = answers.map(({ success, errorReason }) => (success ? 'success' : errorReason)).sort();
      expect(reasons.filter((reason) => reason === 'success')).toHaveLength(1);
      for (const reason of reasons) expect(['success', 'duplicate_settlement', 'settlement_pending']).toContain(reason);
      expect(answers.filter(({ success, transaction }) => !success && transaction !== '')).toEqual([]);
    });

    it('replays the response to a repeat with the same Idempotency-Key', async () => {
      const body = ask();
      const first = await settle(body, { 'Idempotency-Key': 'one' });
      const again = await post('settle', body, { 'Idempotency-Key': 'one' });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.headers.get('idempotency-key')).toBe('one');
      expect(await again.json()).toEqual(first);
      for (const headers of [{ 'Idempotency-Key': 'two' }, { 'Idempotency-Key': 'one', ...bearer() }, {}]) {
        expect(await settle(body, headers)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
      }
    });

    it('reports a pending settlement, and its result to a repeat', async () => {
      const nonce = createHash();
      const txHash = createHash();
      relay.settlements.set(nonce, () => ({ outcome: 'pending', txHash }));
      const pending = { success: false, errorReason: 'settlement_pending', transaction: txHash };
      expect(await settle(ask({ nonce }))).toMatchObject(pending);
      relay.settlements.delete(nonce);
      relay.moved.set(nonce, txHash);
      expect(await settle(ask({ nonce }))).toMatchObject({ success: true, transaction: txHash });
      expect(await settle(ask({ nonce }))).toMatchObject({ errorReason: 'duplicate_settlement' });
    });

    it('reports the reason of a failed settlement, and settles the same payment again', async () => {
      const nonce = createHash();
      relay.settlements.set(nonce, () => ({ outcome: 'failed', failure: 'balance_too_low', txHash: null }));
      const reason = version === 1 ? 'insufficient_funds' : 'invalid_exact_evm_insufficient_balance';
      expect(await settle(ask({ nonce }))).toMatchObject({ success: false, errorReason: reason, transaction: '' });
      relay.settlements.delete(nonce);
      expect(await settle(ask({ nonce }))).toMatchObject({ success: true });
    });

    it('reports success for a payment that was already submitted elsewhere, without submitting it', async () => {
      const nonce = createHash();
      const txHash = createHash();
      relay.moved.set(nonce, txHash);
      expect(await settle(ask({ nonce }))).toMatchObject({ success: true, transaction: txHash });
      expect(relay.asked.some(({ payment }) => JSON.stringify(payment).includes(nonce))).toBe(false);
    });

    it.each<[string, Wish, string, string]>([
      ['another scheme', { scheme: 'deferred' }, 'unsupported_scheme', 'invalid_exact_evm_scheme'],
      ['another network', { network: 'base' }, 'invalid_network', 'invalid_exact_evm_network_mismatch'],
      ['another asset', { asset: STRANGER }, 'invalid_payment_requirements', 'invalid_payment_requirements'],
      ['a payment that cannot be read', { nonce: '0x12' }, 'invalid_payload', 'invalid_payload'],
    ])('refuses %s with the reason of the x402 version', async (_name, wish, v1, v2) => {
      const invalidReason = version === 1 ? v1 : v2;
      expect(await verify(ask(wish))).toMatchObject({ isValid: false, invalidReason });
      const refused = { success: false, errorReason: invalidReason, transaction: '' };
      expect(await settle(ask(wish))).toMatchObject(refused);
    });

    it.each<[PaymentFailure, string, string]>([
      ['amount_mismatch', `${PAYLOAD}_authorization_value`, `${PAYLOAD}_authorization_value_mismatch`],
      ['recipient_mismatch', `${PAYLOAD}_recipient_mismatch`, 'invalid_exact_evm_recipient_mismatch'],
      ['signature_invalid', `${PAYLOAD}_signature`, 'invalid_exact_evm_signature'],
      ['authorization_expired', `${PAYLOAD}_authorization_valid_before`, `${PAYLOAD}_authorization_valid_before`],
      ['authorization_not_yet_valid', `${PAYLOAD}_authorization_valid_after`, `${PAYLOAD}_authorization_valid_after`],
      ['balance_too_low', 'insufficient_funds', 'invalid_exact_evm_insufficient_balance'],
    ])("passes on the verifier's %s, with the reason of the x402 version", async (failure, v1, v2) => {
      const nonce = createHash();
      relay.looks.set(nonce, () => ({ outcome: 'refused', failure, payer: PAYER }));
      const reason = version === 1 ? v1 : v2;
      const invalid = { isValid: false, invalidReason: reason, invalidMessage: failure, payer: PAYER };
      expect(await verify(ask({ nonce }))).toEqual(invalid);
      const refused = { success: false, errorReason: reason, payer: PAYER, transaction: '' };
      expect(await settle(ask({ nonce }))).toMatchObject(refused);
      expect(relay.asked.filter(({ payment }) => JSON.stringify(payment).includes(nonce))).toEqual([]);
    });

    it('responds 503 when the verifier cannot decide', async () => {
      const nonce = createHash();
      relay.looks.set(nonce, () => ({ outcome: 'unavailable', reason: 'chain', retryAfterMs: 7_000 }));
      for (const path of ['verify', 'settle']) {
        const response = await post(path, ask({ nonce }));
        expect(response.headers.get('retry-after')).toBe('7');
        expect(await readProblem(response)).toEqual([503, 'verification_unavailable']);
      }
    });
  });

  const bearer = (): Record<string, string> => ({ Authorization: `Bearer ${token}` });

  it('reports a success once the ledger has recorded it, also if its first reply is lost', async () => {
    const proxy = await startTcpProxy(server.port);
    const env = { FACILITATOR: 'true', FACILITATOR_PAY_TO: PAY_TO, REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
    const remote = await startGateway(server.url, [], env);
    const nonce = createHash();
    const lost = proxy.holdRepliesTo(nonce.slice(2));
    const settled = fetch(`${remote.url}/facilitator/settle`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(askV2({ nonce })),
    });
    await lost;
    // The ledger no longer waits for the reply.
    await sleep(3_500);
    proxy.release();
    expect(await (await settled).json()).toMatchObject({ success: true, transaction: relay.moved.get(nonce) });
    await remote.stop();
    await proxy.stop();
  });

  // Prevents: the server never serves its client, or has it pay again, because the success that it lost was not stored.
  it('repeats a success to the same Idempotency-Key, also if no answer can be stored', async () => {
    const env = { FACILITATOR: 'true', FACILITATOR_PAY_TO: PAY_TO, ANSWER_STORE_BYTES: '0' };
    const full = await startGateway(server.url, [], env);
    for (const body of [askV1(), askV2()]) {
      const ask = (key: string) =>
        fetch(`${full.url}/facilitator/settle`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
          body: JSON.stringify(body),
        });
      const first: unknown = await (await ask('one')).json();
      expect(first).toMatchObject({ success: true, amount: '1000' });
      const again = await ask('one');
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await again.json()).toEqual(first);
      expect(await (await ask('two')).json()).toMatchObject({ errorReason: 'duplicate_settlement' });
    }
    await full.stop();
  });

  it("settles for an unlisted recipient only with an API key, and reports it as another seller's", async () => {
    const nonce = createHash();
    const body = askV2({ payTo: STRANGER, nonce });
    const refused = await post('settle', body);
    expect(refused.headers.get('www-authenticate')).toContain('scope="settle"');
    expect(await readProblem(refused)).toEqual([401, 'api_key_refused']);
    expect(await settle(body, bearer())).toMatchObject({ success: true });
    const eventsOf = (one: string) => readEvents(redis, `auth:1328:${ASSET.toLowerCase()}:${PAYER}:${one}:auth`);
    expect(await eventsOf(nonce)).toMatchObject([{ facts: { payTo: STRANGER, forOther: true } }]);
    const own = createHash();
    await settle(askV2({ nonce: own }));
    expect(await eventsOf(own)).toMatchObject([{ facts: { payTo: PAY_TO.toLowerCase() } }]);
    expect(JSON.stringify(await eventsOf(own))).not.toContain('forOther');
  });

  it('settles in a listed token under its own domain, only with an API key', async () => {
    const body = askV2({ asset: OTHER_ASSET, extra: { name: 'Other Coin', version: '3' } });
    expect(await readProblem(await post('settle', body))).toEqual([401, 'api_key_refused']);
    expect(await settle(body, bearer())).toMatchObject({ success: true });
    expect(relay.asked.at(-1)!.terms).toMatchObject({ assetName: 'Other Coin', assetVersion: '3' });
    const wrong = await verify(askV2({ asset: OTHER_ASSET, extra: { name: 'USDC', version: '2' } }));
    expect(wrong).toMatchObject({ isValid: false, invalidReason: 'invalid_payment_requirements' });
    expect(wrong.invalidMessage).toContain('"Other Coin"');
  });

  it('settles less than the minimum only with an API key', async () => {
    const body = askV2({ amount: '999' });
    expect(await readProblem(await post('settle', body))).toEqual([401, 'api_key_refused']);
    expect(await settle(body, bearer())).toMatchObject({ success: true, amount: '999' });
  });

  it.each(['verify', 'settle'])('refuses an invalid key at /%s, even if none is needed', async (path) => {
    const { token: reader } = await new ApiKeyStore(redis).create({ name: 'r', scopes: ['read'], wallets: ['main'] });
    const wrong = await post(path, askV2(), { Authorization: 'Bearer tgk_nonsense' });
    expect(await readProblem(wrong)).toEqual([401, 'api_key_refused']);
    const other = await post(path, askV2(), { Authorization: `Bearer ${reader}` });
    expect(await readProblem(other)).toEqual([403, 'scope_missing']);
  });

  it.each([
    ['a list', '[]'],
    ['null', 'null'],
    ['no payment', { ...askV2(), paymentPayload: undefined }],
    ['no requirements', { ...askV2(), paymentRequirements: 'all' }],
    ['requirements of the other version', { ...askV2(), paymentRequirements: askV1().paymentRequirements }],
    ['an unknown version', { ...askV2(), x402Version: 7 }],
    ['an invalid recipient', askV2({ payTo: 'me' })],
    ['an invalid amount', askV2({ amount: '1e3' })],
  ])('answers 400 to %s', async (_name, body) => {
    for (const path of ['verify', 'settle']) {
      expect(await readProblem(await post(path, body))).toEqual([400, 'request_invalid']);
    }
  });

  // Prevents: the operator of a server looks for a wrong field, although the body is not JSON at all.
  it.each([
    ['{"x402Version":2,', 'the body is not JSON, or has a field __proto__ or constructor.prototype'],
    ['x402Version=2', 'the body is not JSON, or has a field __proto__ or constructor.prototype'],
    ['', 'the body is empty, and not JSON'],
  ])('reports that %j is not JSON', async (body, detail) => {
    for (const path of ['verify', 'settle']) {
      const response = await post(path, body);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(await response.json()).toMatchObject({ status: 400, code: 'request_invalid', detail, problems: [detail] });
    }
  });

  it('refuses a huge body and other media types', async () => {
    const huge = JSON.stringify({ ...askV2(), padding: 'x'.repeat(70_000) });
    expect(await readProblem(await post('verify', huge))).toEqual([413, 'body_too_large']);
    const form = await post('settle', 'a=b', { 'Content-Type': 'application/x-www-form-urlencoded' });
    expect(await readProblem(form)).toEqual([415, 'media_type_unsupported']);
  });

  it('reads the version from the payment, and refuses contradicting versions', async () => {
    expect(await verify({ ...askV1(), x402Version: undefined })).toMatchObject({ isValid: true });
    const mixed = { ...askV2(), paymentPayload: askV1().paymentPayload };
    expect(await verify(mixed)).toMatchObject({ isValid: false, invalidReason: 'invalid_x402_version' });
  });

  it('lists the supported kinds and the relayers', async () => {
    const address: Hex = '0x00000000000000000000000000000000000000aa';
    const journal = new Journal({ redis, fleet: RELAYER_FLEET, timeoutMs: 30_000 });
    await journal.open();
    await journal.adopt(createLaneId(1328, address), { pendingNonce: 0 });
    await journal.adopt(createLaneId(1, STRANGER), { pendingNonce: 0 });
    await journal.takeLease(createLaneId(1328, address), 'verifier', 60_000);
    const response = await fetch(`${gateway.url}/facilitator/supported`);
    expect(await response.json()).toEqual({
      kinds: [
        { x402Version: 1, scheme: 'exact', network: V1 },
        { x402Version: 2, scheme: 'exact', network: V2 },
        { x402Version: 2, scheme: 'upto', network: V2, extra: { facilitatorAddress: address } },
      ],
      extensions: [],
      signers: { 'eip155:*': [address] },
    });
  });

  it('refuses a permit with a scheme other than the required one', async () => {
    const witness = { to: PAY_TO, facilitator: STRANGER, validAfter: '0' };
    const permitted = { token: ASSET, amount: '1000' };
    const permit2Authorization = {
      from: PAYER,
      permitted,
      spender: STRANGER,
      nonce: '1',
      deadline: '9999999999',
      witness,
    };
    const request = askV2();
    const paymentPayload = {
      ...request.paymentPayload,
      payload: { signature: `0x${'12'.repeat(65)}`, permit2Authorization },
    };
    const invalidReason = 'invalid_exact_evm_scheme';
    expect(await verify({ ...request, paymentPayload })).toMatchObject({ isValid: false, invalidReason });
    const ofMetered = { isValid: false, invalidReason: 'invalid_upto_evm_scheme' };
    expect(await verify(askV2({ scheme: 'upto' }))).toMatchObject(ofMetered);
  });

  it('counts its responses', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    for (const event of ['valid', 'invalid', 'settled', 'replayed', 'not_settled', 'pending', 'unavailable']) {
      expect(metrics).toMatch(new RegExp(`tollgate_facilitator_answers_total\\{.*event="${event}".*\\} [1-9]`));
    }
  });

  it('answers 405 to other methods', async () => {
    expect((await send(gateway.port, { path: '/facilitator/settle' })).status).toBe(405);
  });
});

describe('the facilitator with other settings', () => {
  let server: BorrowedRedis;
  beforeAll(async () => void (server = await borrowRedis()));
  afterAll(() => server.stop());

  const post = (url: string) =>
    fetch(`${url}/facilitator/settle`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(askV2()),
    });

  it('is only served if it is enabled', async () => {
    const gateway = await startGateway(server.url, []);
    expect(await readProblem(await post(gateway.url))).toEqual([404, 'not_found']);
    await gateway.stop();
  });

  it('refuses settlements without a key if no recipient is listed, before the body is sent', async () => {
    const gateway = await startGateway(server.url, [], { FACILITATOR: 'true' });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': 60_000, Expect: '100-continue' };
    const refused = await send(gateway.port, { method: 'POST', path: '/facilitator/settle', headers, body: '{' });
    expect(refused.status).toBe(401);
    await gateway.stop();
  });

  it('limits the requests of one address', async () => {
    const gateway = await startGateway(server.url, [], {
      FACILITATOR: 'true',
      FACILITATOR_PAY_TO: STRANGER,
      FACILITATOR_RATE_LIMIT_PER_MINUTE: '2',
    });
    for (let turn = 0; turn < 2; turn++) expect((await post(gateway.url)).status).toBe(401);
    expect(await readProblem(await post(gateway.url))).toEqual([429, 'too_many_requests']);
    await gateway.stop();
  });
});
