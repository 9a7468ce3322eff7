import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApiKeyStore } from '@tollgate/http';
import {
  encodeJsonHeader,
  encodeProof,
  type Hex,
  type PaymentRequiredV2,
  type RequirementV2,
} from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { waitFor } from '../../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { readHeader } from '../../test/present-payments.js';
import {
  answerJson,
  ASSET,
  createRoute,
  createTxHash,
  PAY_TO,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
} from '../../test/start-gateway.js';

/** As a payments file is read: in lower case. */
const USDC = ASSET.toLowerCase();
const ETHER = '0x4200000000000000000000000000000000000006';
const PAYMENTS = `chains:
  one: { id: 1328, network: chain-testnet, relayers: '\${RELAYERS}' }
  two: { id: 31338, network: other-testnet, relayers: '\${RELAYERS}' }
accepts:
  usdc-one: { chain: one, token: '${USDC}', decimals: 6, symbol: USDC, payTo: '${PAY_TO}' }
  usdc-two: { chain: two, token: '${USDC}', decimals: 6, symbol: USDC, payTo: '${PAY_TO}' }
  ether-one: { chain: one, token: '${ETHER}', decimals: 18, rate: 0.00026, methods: [permit2, transfer], payTo: '${PAY_TO}' }
`;

let folder: string;
let redis: BorrowedRedis;
let gateway: RunningGateway;
let one: LedgerVerifier;
let two: LedgerVerifier;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'options-'));
  const file = join(folder, 'payments.yaml');
  writeFileSync(file, PAYMENTS);
  redis = await borrowRedis();
  [one, two] = await Promise.all([startLedgerVerifier(redis.url), startLedgerVerifier(redis.url, 31_338)]);
  const routes = [
    createRoute(({ verification }) => answerJson(verification)),
    createRoute(() => answerJson('for two'), { path: '/two', accepts: ['usdc-two'] }),
  ];
  gateway = await startGateway(redis.url, routes, {
    PAYMENTS_FILE: file,
    SIGNED_PAYMENTS: 'true',
    VERIFY_DEADLINE_MS: '2000',
    VERIFY_RETRY_MS: '1000',
  });
});
beforeEach(() => {
  one.questions.length = two.questions.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([one.stop(), two.stop()]);
  await redis.stop();
  rmSync(folder, { recursive: true });
});

interface Offered {
  readonly body: { readonly accepts: readonly { network: string; asset: string; extra: { reference: string } }[] };
  readonly accepts: readonly RequirementV2[];
  readonly challenges: readonly Record<string, string>[];
}

async function readOffer(path = '/api/weather'): Promise<Offered> {
  const response = await fetch(gateway.url + path);
  expect(response.status).toBe(402);
  const { accepts } = readHeader(response, 'payment-required') as unknown as PaymentRequiredV2;
  const challenges = (response.headers.get('www-authenticate') ?? '').split(/, (?=Payment )/).map((header) => {
    const fields = [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]);
    return Object.fromEntries(fields) as Record<string, string>;
  });
  return { body: (await response.json()) as Offered['body'], accepts, challenges };
}

const referenceOf = (requirement: RequirementV2 | undefined): string => String(requirement?.extra['reference']);

function pay(accepted: RequirementV2 | undefined, txHash: Hex, reference = referenceOf(accepted)): Promise<Response> {
  const payload = { txHash, reference };
  const header = encodeJsonHeader({ x402Version: 2, accepted, payload });
  return fetch(`${gateway.url}/api/weather`, { headers: { 'PAYMENT-SIGNATURE': header } });
}

function prove(network: string, reference: string | undefined, txHash = createTxHash()): Promise<Response> {
  const payload = { txHash, ...(reference !== undefined && { reference }) };
  const proof = encodeProof({ x402Version: 1, scheme: 'exact', network, payload });
  return fetch(`${gateway.url}/api/weather`, { headers: { 'X-Payment': proof } });
}

function credit(challenge: Record<string, string> | undefined, hash: Hex): Promise<Response> {
  const credential = { challenge, payload: { type: 'hash', hash } };
  const Authorization = `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
  return fetch(`${gateway.url}/api/weather`, { headers: { Authorization } });
}

const failureOf = (response: Response): unknown[] => [response.status, response.headers.get('x-payment-failure')];

describe('a gateway with several options', () => {
  it('offers all in x402 v2, the first two in MPP, and the first in the body', async () => {
    const { body, accepts, challenges } = await readOffer();
    expect(body.accepts).toMatchObject([{ network: 'chain-testnet', asset: USDC, maxAmountRequired: '1000' }]);
    expect(accepts).toMatchObject([
      { network: 'eip155:1328', asset: USDC, amount: '1000' },
      { network: 'eip155:31338', asset: USDC, amount: '1000' },
      { network: 'eip155:1328', asset: ETHER, amount: '260000000000', extra: { assetTransferMethod: 'permit2' } },
    ]);
    expect(new Set(accepts.map(referenceOf)).size).toBe(3);
    expect(challenges.map(({ id }) => id)).toEqual(accepts.slice(0, 2).map(referenceOf));
    expect(body.accepts[0]?.extra.reference).toBe(referenceOf(accepts[0]));
  });

  it('offers no signature on a chain without relayers, where none could be settled', async () => {
    const file = join(folder, 'without-relayers.yaml');
    writeFileSync(file, PAYMENTS.replace("network: other-testnet, relayers: '\${RELAYERS}'", 'network: other-testnet'));
    const own = await startGateway(redis.url, [createRoute(() => answerJson('fine'))], {
      PAYMENTS_FILE: file,
      SIGNED_PAYMENTS: 'true',
      FACILITATOR: 'true',
    });
    try {
      const response = await fetch(`${own.url}/api/weather`);
      const { accepts } = readHeader(response, 'payment-required') as unknown as PaymentRequiredV2;
      expect(accepts.map(({ network }) => network)).toEqual(['eip155:1328', 'eip155:1328']);
      expect(response.headers.get('www-authenticate')?.match(/Payment id=/g)).toHaveLength(2);
      const supported = (await (await fetch(`${own.url}/facilitator/supported`)).json()) as { kinds: object[] };
      expect(supported.kinds).not.toContainEqual(expect.objectContaining({ network: 'eip155:31338' }));
    } finally {
      await own.stop();
    }
  });

  describe('as a facilitator, with API keys that are limited', () => {
    let own: RunningGateway;
    let connection: Redis;
    let keys: ApiKeyStore;

    beforeAll(async () => {
      connection = new Redis(redis.url);
      keys = new ApiKeyStore(connection);
      own = await startGateway(redis.url, [], {
        PAYMENTS_FILE: join(folder, 'payments.yaml'),
        SIGNED_PAYMENTS: 'true',
        FACILITATOR: 'true',
      });
    });
    afterAll(async () => {
      await own.stop();
      connection.disconnect();
    });

    const createKey = async (...accepts: string[]) =>
      await keys.create({ name: 'shop', scopes: ['settle'], wallets: [], accepts });

    async function ask(token: string, path: string, [network, asset]: readonly [string, string] = ['', '']) {
      const requirements = { scheme: 'exact', network, asset, amount: '1000', payTo: PAY_TO, maxTimeoutSeconds: 60 };
      // Malformed, so that what is asked in requirements within the limit ends in a verdict.
      const paymentPayload = { x402Version: 2, accepted: requirements, payload: {} };
      const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: requirements });
      const response = await fetch(`${own.url}/facilitator/${path}`, {
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        ...(network !== '' && { method: 'POST', body }),
      });
      return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
    }

    async function readNetworks(token: string): Promise<string[]> {
      const { kinds } = (await ask(token, 'supported')) as { kinds?: { network: string }[] };
      return [...new Set(kinds?.map(({ network }) => network))];
    }

    const [USDC_ONE, USDC_TWO, ETHER_ONE] = [
      ['eip155:1328', USDC],
      ['eip155:31338', USDC],
      ['eip155:1328', ETHER],
    ] as const;

    it.each([
      ['an option', ['usdc-one'], [USDC_ONE], ['eip155:1328']],
      ['a chain', ['eip155:1328'], [USDC_ONE, ETHER_ONE], ['eip155:1328']],
      ['an option and a chain', ['ether-one', 'eip155:31338'], [USDC_TWO, ETHER_ONE], ['eip155:1328', 'eip155:31338']],
      ['nothing', ['*'], [USDC_ONE, USDC_TWO, ETHER_ONE], ['eip155:1328', 'eip155:31338']],
      ['what is configured no longer', ['usdc-three', 'eip155:1'], [], []],
    ])('takes what a key is limited to: %s', async (_, accepts, taken, networks) => {
      const { token } = await createKey(...accepts);
      for (const path of ['verify', 'settle']) {
        for (const option of [USDC_ONE, USDC_TWO, ETHER_ONE]) {
          const isTaken = taken.some((one) => one === option);
          const answer = await ask(token, path, option);
          const wanted = isTaken ? { status: 200 } : { status: 403, code: 'option_not_allowed' };
          expect(answer).toMatchObject(wanted);
        }
      }
      const caip2 = (await readNetworks(token)).filter((network) => network.startsWith('eip155:'));
      expect(caip2.sort()).toEqual([...networks].sort());
    });

    it('names the limit and what was asked, and keeps to a change from the next request on', async () => {
      const { key, token } = await createKey('usdc-one');
      expect(await ask(token, 'verify', USDC_TWO)).toMatchObject({
        detail: 'This API key is limited to usdc-one, and the payment requirements are for usdc-two on eip155:31338.',
      });
      await keys.limit(key.id, ['usdc-two']);
      expect(await ask(token, 'verify', USDC_TWO)).toMatchObject({ status: 200, isValid: false });
      expect(await readNetworks(token)).toEqual(['eip155:31338']);
    });

    it('takes no signature by a method that the option does not list', async () => {
      const { token } = await createKey('ether-one');
      const [network, asset] = ETHER_ONE;
      const requirements = { scheme: 'exact', network, asset, amount: '1000', payTo: PAY_TO, maxTimeoutSeconds: 60 };
      const from = '0x1111111111111111111111111111111111111111';
      const nonce = createTxHash();
      const authorization = { from, to: PAY_TO, value: '1000', validAfter: '0', validBefore: '9999999999', nonce };
      const payload = { signature: `0x${'12'.repeat(65)}`, authorization };
      for (const path of ['verify', 'settle']) {
        const response = await fetch(`${own.url}/facilitator/${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
          body: JSON.stringify({
            x402Version: 2,
            paymentPayload: { x402Version: 2, accepted: requirements, payload },
            paymentRequirements: requirements,
          }),
        });
        const refused = path === 'verify' ? { invalidMessage: 'wrong_scheme' } : { errorMessage: 'wrong_scheme' };
        expect([response.status, await response.json()]).toMatchObject([200, refused]);
      }
    });

    it('refuses a key that is invalid at /supported, where none is needed', async () => {
      expect(await ask('tgk_nonsense', 'supported')).toMatchObject({ status: 401, code: 'api_key_refused' });
      const { key, token } = await createKey('usdc-one');
      await keys.revoke(key.id);
      expect(await ask(token, 'supported')).toMatchObject({ status: 401, code: 'api_key_refused' });
    });
  });

  it('offers a route only in what it accepts', async () => {
    const { body, accepts } = await readOffer('/two');
    expect(body.accepts).toMatchObject([{ network: 'other-testnet' }]);
    expect(accepts.map(({ network }) => network)).toEqual(['eip155:31338']);
  });

  it('asks the verifiers of the chain that is paid on, by the terms of the option', async () => {
    const { accepts } = await readOffer();
    const terms = [
      [one, { chainId: 1328, asset: USDC, priceBaseUnits: '1000', network: 'chain-testnet' }],
      [two, { chainId: 31_338, asset: USDC, priceBaseUnits: '1000', network: 'other-testnet' }],
      [one, { chainId: 1328, asset: ETHER, priceBaseUnits: '260000000000', network: 'chain-testnet' }],
    ] as const;
    for (const [at, [verifier, asked]] of terms.entries()) {
      const txHash = createTxHash();
      const response = await pay(accepts[at], txHash);
      expect([response.status, await response.json()]).toEqual([200, { isValid: true, txHash }]);
      expect(verifier.questions.at(-1)).toMatchObject({ txHash, ...asked });
      expect(readHeader(response, 'payment-response')).toMatchObject({ network: accepts[at]?.network });
    }
    expect([one.questions.length, two.questions.length]).toEqual([2, 1]);
  });

  it('takes the second MPP challenge', async () => {
    const { challenges } = await readOffer();
    const txHash = createTxHash();
    expect((await credit(challenges[1], txHash)).status).toBe(200);
    expect(two.questions).toMatchObject([{ txHash, chainId: 31_338 }]);
  });

  it('takes one transaction hash on two chains as two payments', async () => {
    const { accepts } = await readOffer();
    const txHash = createTxHash();
    expect([(await pay(accepts[0], txHash)).status, (await pay(accepts[1], txHash)).status]).toEqual([200, 200]);
    const again = await pay((await readOffer()).accepts[0], txHash);
    expect(failureOf(again)).toEqual([402, 'payment_used']);
  });

  it('refuses a payment that names another option than its reference', async () => {
    const { accepts } = await readOffer();
    expect(failureOf(await pay(accepts[0], createTxHash(), referenceOf(accepts[1])))).toEqual([
      402,
      'unknown_reference',
    ]);
    expect(failureOf(await prove('chain-testnet', referenceOf(accepts[1])))).toEqual([402, 'unknown_reference']);
    const elsewhere = { ...accepts[0], network: 'eip155:1' } as RequirementV2;
    expect(failureOf(await pay(elsewhere, createTxHash()))).toEqual([402, 'wrong_network']);
    expect(failureOf(await prove('elsewhere', undefined))).toEqual([402, 'wrong_network']);
    expect([...one.questions, ...two.questions]).toEqual([]);
  });

  it('takes a proof without a reference as a payment in the first option of its network', async () => {
    expect((await prove('other-testnet', undefined)).status).toBe(200);
    expect(two.questions).toMatchObject([{ chainId: 31_338, asset: USDC }]);
    expect((await prove('chain-testnet', undefined)).status).toBe(200);
    expect(one.questions).toMatchObject([{ chainId: 1328, asset: USDC }]);
  });

  it('offers neither token of a chain that no verifier judges, judges who paid before once it is back, and says so until then', async () => {
    const before = await readOffer();
    await two.stop();
    await waitFor('it is not offered', async () => (await readOffer()).accepts.length === 2);
    const { body, accepts } = await readOffer();
    expect(accepts.map(({ network }) => network)).toEqual(['eip155:1328', 'eip155:1328']);
    expect(body.accepts).toMatchObject([{ network: 'chain-testnet' }]);
    expect((await fetch(`${gateway.url}/two`)).status).toBe(503);
    const ready = await fetch(`${gateway.url}/health/ready`);
    expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining('usdc-two: no verifier')]);

    const txHash = createTxHash();
    const paid = pay(before.accepts[1], txHash);
    const byMpp = createTxHash();
    expect((await credit(before.challenges[1], byMpp)).status).toBe(503);
    expect((await pay(before.accepts[0], createTxHash())).status).toBe(200);
    expect((await paid).status).toBe(503);
    two = await startLedgerVerifier(redis.url, 31_338);
    await waitFor('it is offered again', async () => (await readOffer()).accepts.length === 3);
    expect((await pay(before.accepts[1], txHash)).status).toBe(200);
    expect((await credit(before.challenges[1], byMpp)).status).toBe(200);
  });
});
