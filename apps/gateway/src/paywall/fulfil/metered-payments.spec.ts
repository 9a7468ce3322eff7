import { createLaneId, Journal, RELAYER_FLEET } from '@tollgate/journal';
import {
  encodeJsonHeader,
  type DiscoveryResponse,
  type Hex,
  type RequirementV2,
  type SignedPermit,
} from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { waitFor } from '../../../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../../../test/harness/stack/borrow-redis.js';
import { describePurchases } from '../../../test/describe-purchases.js';
import {
  createPayment,
  createPermit,
  payloadOf,
  presentMetered,
  presentV2,
  readChallenge,
  readHeader,
} from '../../../test/present-payments.js';
import { readProblem } from '../../../test/start-agents.js';
import {
  answerJson,
  ASSET,
  createRoute,
  PAY_TO,
  startGateway,
  type RunningGateway,
} from '../../../test/start-gateway.js';
import { createHash, startRelay, type Relay } from '../../../test/start-relay.js';
import type { ProducedAnswer, ResourceRequest } from '../route/paid-route.js';

const RELAYER: Hex = '0x00000000000000000000000000000000000000aa';

let redis: BorrowedRedis;
let relay: Relay;
let gateway: RunningGateway;
let client: Redis;
let journal: Journal;
let lease: NonNullable<Awaited<ReturnType<Journal['takeLease']>>>;
let made: ResourceRequest[];
let settledBefore: number[];
let charge: string | undefined;
let answer: () => ProducedAnswer;

async function takeLease(): Promise<void> {
  lease = (await journal.takeLease(createLaneId(1328, RELAYER), 'verifier', 3_600_000))!;
}

const produce = (request: ResourceRequest): ProducedAnswer => {
  made.push(request);
  settledBefore.push(relay.asked.length);
  return { ...answer(), ...(charge === undefined ? {} : { charge }) };
};

beforeAll(async () => {
  redis = await borrowRedis();
  relay = await startRelay(redis.url);
  client = new Redis(redis.url);
  journal = new Journal({ redis: client, fleet: RELAYER_FLEET, timeoutMs: 30_000 });
  await journal.open();
  await journal.adopt(createLaneId(1328, RELAYER), { pendingNonce: 0 });
  await takeLease();
  const routes = [
    createRoute(produce, { isMetered: true }),
    createRoute(produce, { path: '/plain' }),
    createRoute(produce, { path: '/streamed', answer: 'streamed', settle: 'before' }),
    createRoute(produce, { path: '/large', isMetered: true }),
    createRoute(produce, { path: '/orders', methods: ['POST'], isMetered: true }),
  ];
  const env = {
    SIGNED_PAYMENTS: 'true',
    MAX_STORED_ANSWER_BYTES: '1000',
    FACILITATOR: 'true',
    FACILITATOR_PAY_TO: PAY_TO,
  };
  gateway = await startGateway(redis.url, routes, {
    ...env,
    PUBLIC_URL: 'https://shop.example',
    FACILITATOR_PAY_TO: PAY_TO,
    FACILITATOR_MIN_BASE_UNITS: '1',
  });
  await waitFor('the relayer is known', async () => (await offer()).required.accepts.length === 2);
});
afterAll(async () => {
  await gateway.stop();
  await relay.stop();
  client.disconnect();
  await redis.stop();
});
beforeEach(() => {
  [made, settledBefore] = [[], []];
  charge = undefined;
  answer = () => answerJson({ sold: true });
  relay.asked.length = 0;
  relay.settlements.clear();
});

const url = (path: string) => gateway.url + path;
const get = (headers: Record<string, string>, path = '/api/weather') => fetch(url(path), { headers });
const offer = (path = '/api/weather') => readChallenge(url(path));
const amounts = () => relay.asked.map(({ amountBaseUnits }) => amountBaseUnits);
/** The request of a payer that signed the maximum. */
const sign = async (path = '/api/weather', permit = createPermit(RELAYER)) => ({
  permit,
  headers: presentMetered(await offer(path), permit),
});

/** A request to the facilitator to settle this amount. */
const settleElsewhere = (permit: SignedPermit, amount: string) => {
  const requirements = { scheme: 'upto', network: 'eip155:1328', asset: ASSET, amount, payTo: PAY_TO };
  const paymentRequirements = { ...requirements, maxTimeoutSeconds: 60, extra: { name: 'USDC', version: '2' } };
  const paymentPayload = { x402Version: 2, payload: payloadOf(permit), accepted: paymentRequirements };
  return fetch(url('/facilitator/settle'), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements }),
  });
};

describe('the challenge of a metered route', () => {
  it('offers to sign the price as a maximum, only in the x402 v2 header', async () => {
    const response = await fetch(url('/api/weather'));
    const { accepts } = readHeader(response, 'payment-required') as { accepts: Record<string, unknown>[] };
    const [exact, upto, ...others] = accepts;
    expect(others).toEqual([]);
    expect(exact).toMatchObject({ scheme: 'exact', amount: '1000' });
    const { reference } = exact!.extra as { reference: string };
    expect(upto).toEqual({
      scheme: 'upto',
      network: 'eip155:1328',
      amount: '1000',
      asset: ASSET,
      payTo: PAY_TO,
      maxTimeoutSeconds: 300,
      extra: {
        name: 'USDC',
        version: '2',
        reference,
        assetTransferMethod: 'permit2',
        facilitatorAddress: RELAYER,
      },
    });
    const body = (await response.json()) as { accepts: object[] };
    const plain = (await (await fetch(url('/plain'))).json()) as { accepts: object[] };
    expect(body.accepts).toHaveLength(1);
    const without = ({ accepts: [one] }: { accepts: object[] }) => ({ ...one, resource: '', extra: '' });
    expect(without(body)).toEqual(without(plain));
  });

  it('has the same options as the list of paid resources', async () => {
    const response = await fetch(url('/facilitator/discovery/resources?scheme=upto'));
    const { items } = (await response.json()) as DiscoveryResponse;
    const paths = ['/api/weather', '/large', '/orders'];
    expect(items.map(({ resource }) => resource)).toEqual(paths.map((path) => `https://shop.example${path}`));
    const { accepts } = (await offer()).required;
    const [, listed] = items[0]!.accepts as RequirementV2[];
    expect({ ...listed, extra: { ...listed!.extra, reference: accepts[1]!.extra.reference } }).toEqual(accepts[1]);
  });

  it('does not offer a maximum while no relayer runs', async () => {
    await journal.releaseLease(lease);
    await waitFor('the relayer is gone', async () => (await offer()).required.accepts.length === 1);
    await takeLease();
    await waitFor('the relayer is back', async () => (await offer()).required.accepts.length === 2);
  });
});

describe('a metered payment', () => {
  describe('of a resource that charges less', () => {
    beforeEach(() => void (charge = '0.0003'));
    describePurchases(
      {
        name: 'a permit of a maximum',
        present: (challenge) => {
          const payment = createPermit(RELAYER);
          return { payment, headers: presentMetered(challenge, payment) };
        },
        charge: '300',
        receipt: {
          header: 'payment-response',
          create: ({ transaction, payer }) => {
            return { success: true, transaction, network: 'eip155:1328', payer, amount: '300' };
          },
        },
      },
      {
        relay: () => relay,
        url,
        made: () => made,
        settledBefore: () => settledBefore,
        setFailing: (isFailing) => (answer = () => answerJson({ ok: !isFailing }, isFailing ? 500 : 200)),
      },
    );
  });

  it.each([
    ['nothing', undefined],
    ['the maximum', '0.001'],
  ])('is charged at the maximum if the resource reports %s', async (_, said) => {
    charge = said;
    const response = await get((await sign()).headers);
    expect(readHeader(response, 'payment-response')).toMatchObject({ success: true, amount: '1000' });
    expect(amounts()).toEqual(['1000']);
  });

  it.each(['0', '0.000000'])('is free, and spent, if the charge is %s', async (nothing) => {
    charge = nothing;
    const { permit, headers } = await sign();
    const [first, again] = [await get(headers), await get(headers)];
    for (const response of [first, again]) {
      expect(response.status).toBe(200);
      expect(readHeader(response, 'payment-response')).toEqual({
        success: true,
        transaction: '',
        network: 'eip155:1328',
        payer: permit.permit2Authorization.from,
        amount: '0',
      });
    }
    expect([made.length, amounts()]).toEqual([1, []]);
  });

  it.each(['0.001001', '1e-4', '-1', '0,1', '', 'free', '0.0000001', '0.0001, 0.0002', '9'.repeat(400)])(
    'costs nothing if the resource reports the invalid charge %.20j',
    async (said) => {
      charge = said;
      const { headers } = await sign();
      const response = await get(headers);
      expect([response.status, response.headers.get('x-payment-released')]).toEqual([502, 'true']);
      expect(await response.json()).toMatchObject({ code: 'upstream_mischarged' });
      expect(amounts()).toEqual([]);
      charge = '0.0001';
      expect((await get(headers)).status).toBe(200);
      expect(amounts()).toEqual(['100']);
    },
  );

  // Prevents: a repeat after a settlement with unknown result settles another amount than the first attempt.
  it('is settled for the same amount when its settlement is repeated', async () => {
    charge = '0.0003';
    const { permit, headers } = await sign();
    const { nonce } = permit.permit2Authorization;
    relay.settlements.set(nonce, () => ({ outcome: 'pending', txHash: null }));
    expect((await get(headers)).status).toBe(503);
    relay.settlements.set(nonce, () => ({ outcome: 'unavailable', reason: 'payer_busy' }));
    charge = '0.0009';
    expect((await get(headers)).status).toBe(503);
    relay.settlements.clear();
    const response = await get(headers);
    expect(readHeader(response, 'payment-response')).toMatchObject({ amount: '300' });
    expect(amounts()).toEqual(['300', '300', '300']);
    expect(new Set(made.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  // Prevents: the amount of a cheap response, which may already be settled, buys an expensive one.
  it('buys nothing else while the charge of the first request may still be settled', async () => {
    charge = '0.0003';
    const { permit, headers } = await sign();
    relay.settlements.set(permit.permit2Authorization.nonce, () => ({ outcome: 'pending', txHash: null }));
    expect((await get(headers)).status).toBe(503);
    relay.settlements.clear();
    charge = '0.001';
    expect(await readProblem(await get(headers, '/api/weather?dear'))).toEqual([409, 'payment_for_other_request']);
    expect(await (await settleElsewhere(permit, '1')).json()).toMatchObject({ errorReason: 'duplicate_settlement' });
    expect(made).toHaveLength(1);
    expect(readHeader(await get(headers), 'payment-response')).toMatchObject({ amount: '300' });
  });

  // Prevents: a second permit with the same nonce fails because the first was settled, and this erases the record of
  // what the first has bought.
  it('buys nothing else after another permit with its nonce has failed', async () => {
    charge = '0.0003';
    const challenge = await offer();
    const permit = createPermit(RELAYER);
    const { nonce, deadline } = permit.permit2Authorization;
    const twin = structuredClone(permit);
    twin.permit2Authorization.deadline = String(Number(deadline) + 1);
    relay.settlements.set(nonce, () => ({ outcome: 'pending', txHash: null }));
    expect((await get(presentMetered(challenge, permit))).status).toBe(503);
    relay.settlements.set(nonce, () => ({ outcome: 'failed', failure: 'payment_used', txHash: null }));
    expect((await get(presentMetered(challenge, twin))).headers.get('x-payment-failure')).toBe('payment_used');
    relay.settlements.clear();
    charge = '0.001';
    const dear = await get(presentMetered(challenge, permit), '/api/weather?dear');
    expect(await readProblem(dear)).toEqual([409, 'payment_for_other_request']);
    expect(readHeader(await get(presentMetered(challenge, permit)), 'payment-response')).toMatchObject({
      amount: '300',
    });
    expect(amounts()).toEqual(['300', '300', '300']);
  });

  // Prevents: a payer has a small amount of its permit settled elsewhere and gets a response for it here.
  it('buys nothing with an amount that a facilitator may have settled', async () => {
    const { permit, headers } = await sign();
    relay.settlements.set(permit.permit2Authorization.nonce, () => ({ outcome: 'pending', txHash: createHash() }));
    expect(await (await settleElsewhere(permit, '1')).json()).toMatchObject({ errorReason: 'settlement_pending' });
    relay.settlements.clear();
    expect(await readProblem(await get(headers))).toEqual([409, 'payment_for_other_request']);
    expect(await (await settleElsewhere(permit, '1')).json()).toMatchObject({ success: true, amount: '1' });
    expect([made.length, amounts()]).toEqual([0, ['1', '1']]);
  });

  it('is charged for the next response once the first settlement has failed', async () => {
    charge = '0.0003';
    const { permit, headers } = await sign();
    const { nonce } = permit.permit2Authorization;
    relay.settlements.set(nonce, () => ({ outcome: 'failed', failure: 'balance_too_low', txHash: null }));
    const refused = await get(headers);
    expect([refused.status, refused.headers.get('x-payment-failure')]).toEqual([402, 'balance_too_low']);
    relay.settlements.clear();
    charge = '0.0009';
    expect(readHeader(await get(headers), 'payment-response')).toMatchObject({ amount: '900' });
    expect(amounts()).toEqual(['300', '900']);
  });

  // Prevents: a payer whose permit was refused after a cheap response gets an expensive one for the same amount.
  it('is charged for the next response if the settlement for the first never began', async () => {
    charge = '0.0003';
    const { permit, headers } = await sign();
    const { nonce } = permit.permit2Authorization;
    relay.settlements.set(nonce, () => ({ outcome: 'unavailable', reason: 'payer_busy' }));
    expect((await get({ ...headers, Range: 'bytes=0-0' })).status).toBe(503);
    relay.settlements.clear();
    charge = '0.0009';
    expect(readHeader(await get(headers), 'payment-response')).toMatchObject({ amount: '900' });
    expect(amounts()).toEqual(['300', '900']);
  });

  it('that was settled before has the settled amount in its receipt', async () => {
    charge = '0.0009';
    const { permit, headers } = await sign();
    const { from: payer, nonce } = permit.permit2Authorization;
    const txHash: Hex = `0x${'ab'.repeat(32)}`;
    relay.looks.set(nonce, async (request) => {
      const verdict = await relay.claim(request);
      return verdict.outcome === 'claimed' ? { ...verdict, txHash, amountBaseUnits: '300' } : verdict;
    });
    const response = await get(headers);
    expect(readHeader(response, 'payment-response')).toMatchObject({ transaction: txHash, payer, amount: '300' });
    expect(amounts()).toEqual([]);
  });

  it('is refused with the reason if Permit2 lacks the allowance', async () => {
    const { permit, headers } = await sign();
    const payer = permit.permit2Authorization.from;
    const failure = 'permit2_allowance_missing';
    relay.looks.set(permit.permit2Authorization.nonce, () => ({ outcome: 'refused', failure, payer }));
    const response = await get(headers);
    expect([response.status, response.headers.get('x-payment-failure')]).toEqual([402, failure]);
    expect(readHeader(response, 'payment-required')).toMatchObject({ error: 'permit2_allowance_required' });
  });
});

describe('without metering', () => {
  it('a maximum is refused', async () => {
    const challenge = await offer('/plain');
    const permit = createPermit(RELAYER);
    for (const accepted of [{ scheme: 'upto' }, {}]) {
      const response = await get(presentV2(challenge, payloadOf(permit), { accepted }), '/plain');
      expect([response.status, response.headers.get('x-payment-failure')]).toEqual([402, 'wrong_scheme']);
    }
    expect([made.length, relay.asked.length]).toEqual([0, 0]);
  });

  it('a maximum is refused as an x402 v1 payment and as the exact price', async () => {
    const permit = createPermit(RELAYER);
    const v1 = { x402Version: 1, scheme: 'exact', network: 'chain-testnet', payload: payloadOf(permit) };
    for (const headers of [{ 'X-PAYMENT': encodeJsonHeader(v1) }, presentV2(await offer(), payloadOf(permit))]) {
      const response = await get(headers);
      expect([response.status, response.headers.get('x-payment-failure')]).toEqual([402, 'wrong_scheme']);
    }
    expect(relay.asked).toEqual([]);
  });

  it('the exact price is accepted, also on a metered route, and by Permit2 too', async () => {
    charge = '0.0003';
    const byAuthorization = await get(presentV2(await offer(), createPayment()));
    expect(readHeader(byAuthorization, 'payment-response')).not.toHaveProperty('amount');
    const permit = createPermit(RELAYER, { scheme: 'exact' });
    expect((await get(presentV2(await offer('/plain'), payloadOf(permit)), '/plain')).status).toBe(200);
    expect(amounts()).toEqual(['1000', '1000']);
  });
});

describe('a response that is produced again', () => {
  it('has the receipt of its payment if it was streamed', async () => {
    const payment = createPayment();
    const headers = presentV2(await offer('/streamed'), payment);
    const [first, again] = [await get(headers, '/streamed'), await get(headers, '/streamed')];
    expect(made).toHaveLength(2);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const { nonce, from: payer } = payment.authorization;
    const receipt = { success: true, transaction: relay.moved.get(nonce), network: 'eip155:1328', payer };
    expect(readHeader(first, 'payment-response')).toEqual(receipt);
    expect(readHeader(again, 'payment-response')).toEqual(receipt);
    expect(made.map(({ verification }) => verification.txHash)).toEqual([receipt.transaction, receipt.transaction]);
  });

  it('has the receipt with the amount if it was too large to be stored', async () => {
    charge = '0.0003';
    answer = () => answerJson({ large: 'x'.repeat(2_000) });
    const { headers } = await sign('/large');
    const [first, again] = [await get(headers, '/large'), await get(headers, '/large')];
    charge = '0.0009';
    const third = await get(headers, '/large');
    expect(readHeader(first, 'payment-response')).toMatchObject({ amount: '300' });
    for (const response of [again, third]) {
      expect(readHeader(response, 'payment-response')).toEqual(readHeader(first, 'payment-response'));
    }
    expect([made.length, amounts()]).toEqual([3, ['300']]);
  });
});
