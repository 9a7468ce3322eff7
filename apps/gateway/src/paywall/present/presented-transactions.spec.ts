import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { createOwner } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { borrowRedis, type BorrowedRedis } from '../../../../../test/harness/stack/borrow-redis.js';
import {
  createCredential,
  createPayment,
  presentV1,
  presentV2,
  readChallenge,
  readHeader,
  type OfferedChallenge,
} from '../../../test/present-payments.js';
import {
  answerJson,
  createRoute,
  createTxHash,
  pay,
  proofFor,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
} from '../../../test/start-gateway.js';

let redis: BorrowedRedis;
let verifier: LedgerVerifier;
let gateway: RunningGateway;

let failures = 0;
let isMoved = false;
const routes = [
  createRoute(({ verification }) => {
    if (isMoved) return { ...answerJson({}, 307), isMoved };
    if (failures === 0) return answerJson(verification);
    failures -= 1;
    return answerJson({}, 500);
  }),
];

const present = {
  mpp: (challenge: OfferedChallenge, hash: Hex) => ({
    Authorization: createCredential(challenge.authentication, { type: 'hash', hash }),
  }),
  v2: (challenge: OfferedChallenge, txHash: Hex) => presentV2(challenge, { txHash }),
};

async function start(env: Record<string, string>): Promise<string> {
  gateway = await startGateway(redis.url, routes, env);
  return `${gateway.url}/api/weather`;
}

beforeAll(async () => {
  redis = await borrowRedis();
  verifier = await startLedgerVerifier(redis.url);
});
beforeEach(() => {
  failures = 0;
  isMoved = false;
  verifier.questions.length = 0;
});
afterEach(async () => {
  Logger.overrideLogger(false);
  await gateway.stop();
});
afterAll(async () => {
  await verifier.stop();
  await redis.stop();
});

describe('a transaction sent by the payer', () => {
  it('pays by x402 v2', async () => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const [txHash, challenge] = [createTxHash(), await readChallenge(url)];
    const response = await fetch(url, { headers: presentV2(challenge, { txHash }) });
    expect(await response.json()).toEqual({ isValid: true, txHash });
    expect(readHeader(response, 'payment-response')).toMatchObject({ success: true, transaction: txHash });
    expect(verifier.questions).toMatchObject([{ txHash, reference: { text: challenge.reference } }]);
  });

  it('pays by MPP', async () => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const [txHash, challenge] = [createTxHash(), await readChallenge(url)];
    const Authorization = createCredential(challenge.authentication, { type: 'hash', hash: txHash });
    const response = await fetch(url, { headers: { Authorization } });
    expect(await response.json()).toEqual({ isValid: true, txHash });
    expect(readHeader(response, 'payment-receipt')).toMatchObject({ status: 'success', reference: txHash });
    expect(verifier.questions).toMatchObject([{ txHash, reference: { text: challenge.reference } }]);
  });

  // Prevents: a payer that has paid is asked to pay again while the gateways are replaced for another setting.
  it('pays by MPP at a gateway with another host and another time for payments', async () => {
    const challenge = await readChallenge(await start({ SIGNED_PAYMENTS: 'true', PUBLIC_URL: 'https://old.example' }));
    await gateway.stop();
    const env = { SIGNED_PAYMENTS: 'true', PUBLIC_URL: 'https://new.example', MAX_TIMEOUT_SECONDS: '600' };
    const [url, txHash] = [await start(env), createTxHash()];
    const Authorization = createCredential(challenge.authentication, { type: 'hash', hash: txHash });
    expect((await fetch(url, { headers: { Authorization } })).status).toBe(200);
    const request = Buffer.from('{"amount":"1"}').toString('base64url');
    const other = createCredential({ ...challenge.authentication, request }, { type: 'hash', hash: txHash });
    const refused = await fetch(url, { headers: { Authorization: other } });
    expect([refused.status, refused.headers.get('x-payment-failure')]).toEqual([402, 'unknown_reference']);
  });

  it('pays in the documented form, without a receipt header', async () => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const response = await pay(url);
    expect(response.status).toBe(200);
    for (const name of ['x-payment-response', 'payment-response', 'payment-receipt']) {
      expect(response.headers.get(name)).toBeNull();
    }
  });

  // Prevents: without a bookkeeper, nobody learns of money that has bought nothing and fits no other path.
  it.each([
    [true, 1],
    [false, 0],
  ])('is named for a refund each time a redirect releases it: %s', async (moved, times) => {
    const url = await start({});
    const lines: unknown[] = [];
    const take = (line: unknown) => void lines.push(line);
    Logger.overrideLogger({ log: take, warn: take, error: take });
    [isMoved, failures] = [moved, 1];
    const txHash = createTxHash();
    expect((await pay(url, { txHash })).headers.get('x-payment-released')).toBe('true');
    const owed = { msg: expect.stringContaining('payment to refund'), payer: expect.stringMatching(/^0x/), txHash };
    const named = { ...owed, path: '/api/weather', payment: expect.stringContaining(`:${txHash}:0`) };
    expect(lines.filter((line) => JSON.stringify(line).includes('to refund'))).toEqual(
      Array(times).fill(expect.objectContaining(named)),
    );
  });

  // Prevents: a client that pays each challenge it gets sends a second transaction while the chain confirms the first.
  it.each(['receipt_missing', 'not_confirmed'] as const)('is not asked for again while it is %s', async (failure) => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const [txHash, challenge] = [createTxHash(), await readChallenge(url)];
    verifier.judgements.set(txHash, () => ({ outcome: 'refused', failure, retryAfterMs: 2000 }));
    const lines: unknown[] = [];
    const take = (line: unknown) => void lines.push(line);
    Logger.overrideLogger({ log: take, warn: take, error: take });
    const Authorization = createCredential(challenge.authentication, { type: 'hash', hash: txHash });
    for (const headers of [{ Authorization }, presentV2(challenge, { txHash })]) {
      const response = await fetch(url, { headers });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
      expect(await response.json()).toMatchObject({ code: 'transaction_pending' });
      for (const name of ['www-authenticate', 'payment-required']) expect(response.headers.get(name)).toBeNull();
    }
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'not answered: transaction_pending', txHash, reason: failure }),
    );
    const documented = await pay(url, { txHash });
    expect([documented.status, documented.headers.get('x-payment-failure')]).toEqual([402, failure]);
    expect(documented.headers.get('retry-after')).toBe('2');
    verifier.judgements.set(txHash, () => ({ outcome: 'refused', failure }));
    const soon = await fetch(url, { headers: { Authorization } });
    expect([soon.status, soon.headers.get('retry-after')]).toEqual([503, '1']);
    verifier.judgements.delete(txHash);
    expect((await fetch(url, { headers: { Authorization } })).status).toBe(200);
  });

  it('is not asked for again by MPP where only a bound one is accepted', async () => {
    const url = await start({ SIGNED_PAYMENTS: 'true', PAYMENT_POLICY: 'bound' });
    const [txHash, challenge] = [createTxHash(), await readChallenge(url)];
    verifier.judgements.set(txHash, () => ({ outcome: 'refused', failure: 'not_bound' }));
    const Authorization = createCredential(challenge.authentication, { type: 'hash', hash: txHash });
    const response = await fetch(url, { headers: { Authorization } });
    expect([response.status, await response.json()]).toMatchObject([403, { code: 'transaction_unbound' }]);
    for (const name of ['www-authenticate', 'payment-required']) expect(response.headers.get(name)).toBeNull();
    const bindable = await fetch(url, { headers: presentV2(challenge, { txHash }) });
    expect([bindable.status, bindable.headers.get('x-payment-failure')]).toEqual([402, 'not_bound']);
  });

  it('gets its answer again by the reference alone, without a lock', async () => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    for (const form of ['mpp', 'v2'] as const) {
      const [txHash, own, other] = [createTxHash(), await readChallenge(url), await readChallenge(url)];
      const first = await fetch(url, { headers: present[form](own, txHash) });
      const again = await fetch(url, { headers: present[form](own, txHash) });
      expect([first.status, again.status]).toEqual([200, 200]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await again.text()).toBe(await first.text());
      const stranger = await fetch(url, { headers: present[form](other, txHash) });
      expect([stranger.status, stranger.headers.get('x-payment-failure')]).toEqual([402, 'payment_used']);
    }
  });

  // Prevents: a client that begins anew after a failure of the upstream, with a challenge of its own, is asked to pay again.
  it.each(['mpp', 'v2'] as const)('pays after a failure with whichever challenge by %s', async (form) => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const [own, other] = [await readChallenge(url), await readChallenge(url)];
    const later = [
      (txHash: Hex) => present[form](other, txHash),
      (txHash: Hex) => ({ ...present[form](own, txHash), 'Idempotency-Key': 'a-key-of-the-second-try' }),
      (txHash: Hex) => ({ 'X-Payment': proofFor(txHash) }),
    ];
    for (const presentLater of later) {
      const txHash = createTxHash();
      failures = 1;
      const failed = await fetch(url, { headers: present[form](own, txHash) });
      expect([failed.status, failed.headers.get('x-payment-released')]).toEqual([500, 'true']);
      expect((await fetch(url, { headers: presentLater(txHash) })).status).toBe(200);
    }
  });

  // Prevents: the same after a verifier's reply was lost, or a gateway was killed that held the payment.
  it.each(['mpp', 'v2'] as const)('pays after a request that ended without an answer by %s', async (form) => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const [own, other] = [await readChallenge(url), await readChallenge(url)];
    for (const isGatewayGone of [false, true]) {
      const txHash = createTxHash();
      verifier.judgements.set(txHash, async (request) => {
        verifier.judgements.delete(txHash);
        const claim = isGatewayGone ? { ...request, owner: createOwner(), leaseMs: 1 } : request;
        expect((await verifier.claim(claim)).outcome).toBe('claimed');
        if (isGatewayGone) await sleep(5);
        return { outcome: 'unavailable', reason: 'rpc_unavailable' };
      });
      expect((await fetch(url, { headers: present[form](own, txHash) })).status).toBe(503);
      expect((await fetch(url, { headers: present[form](other, txHash) })).status).toBe(200);
    }
  });

  // Prevents: a client that sends a key on only one of its tries is asked to pay again.
  it('gets its answer again with a key on only one of two tries', async () => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const key = { 'Idempotency-Key': 'a-key-of-only-one-try' };
    const identified = (challenge: OfferedChallenge, txHash: Hex) =>
      presentV2(challenge, { txHash }, { id: 'an-identifier-of-one-try' });
    for (const [plain, named] of [
      [present.mpp, (...args: Parameters<typeof present.mpp>) => ({ ...present.mpp(...args), ...key })],
      [present.v2, (...args: Parameters<typeof present.v2>) => ({ ...present.v2(...args), ...key })],
      [present.v2, identified],
    ] as const) {
      for (const tries of [
        [plain, named],
        [named, plain],
      ]) {
        const [txHash, challenge] = [createTxHash(), await readChallenge(url)];
        const responses: Response[] = [];
        for (const show of tries) responses.push(await fetch(url, { headers: show(challenge, txHash) }));
        expect(responses.map(({ status }) => status)).toEqual([200, 200]);
        expect(responses[1]!.headers.get('idempotent-replayed')).toBe('true');
      }
    }
  });

  it('in the documented form is refused the second time, with or without a reference', async () => {
    const url = await start({ SIGNED_PAYMENTS: 'true' });
    const { reference } = await readChallenge(url);
    for (const named of [{}, { reference }]) {
      const headers = { 'X-Payment': proofFor(createTxHash(), named) };
      expect((await fetch(url, { headers })).status).toBe(200);
      const again = await fetch(url, { headers });
      expect([again.status, await again.json()]).toMatchObject([402, { error: 'Payment already used' }]);
    }
  });

  it('may name either network if challenges are for x402 v1 clients', async () => {
    const url = await start({ CHALLENGE_FORM: 'v1-clients', PUBLIC_URL: 'https://api.example' });
    const statuses: number[] = [];
    for (const network of ['chain-testnet', 'sei-testnet', 'eip155:1328']) {
      const proof = JSON.parse(Buffer.from(proofFor(createTxHash()), 'base64').toString()) as object;
      const header = Buffer.from(JSON.stringify({ ...proof, network })).toString('base64');
      statuses.push((await fetch(url, { headers: { 'X-Payment': header } })).status);
    }
    expect(statuses).toEqual([200, 200, 402]);
  });
});

describe('a gate that settles nothing', () => {
  it('accepts no signed payment in any header', async () => {
    const url = await start({});
    const v1 = await fetch(url, { headers: presentV1(createPayment()) });
    expect([v1.status, v1.headers.get('x-payment-failure')]).toEqual([402, 'malformed_proof']);
    const others = { 'PAYMENT-SIGNATURE': 'x', Authorization: 'Payment x' };
    const response = await fetch(url, { headers: others });
    expect([response.status, response.headers.get('x-payment-failure')]).toEqual([402, null]);
    expect((await pay(url, { headers: others })).status).toBe(200);
  });
});
