import { challengeNonce, type SignedAuthorization } from '@tollgate/protocol';

import { presentMpp, presentV1, presentV2, readChallenge } from '../../apps/gateway/test/present-payments.js';
import { postSettlement } from '../harness/payments/post-settlement.js';
import { expectPaidOnce, useSignedSales } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(120_000);

const RESOURCE = '/v1/quotes/A';
const TIMES = 3;

/** The same authorization in three protocols and through the facilitator, at two gateways at the same time. */
describe('one authorization, presented at once in every form', () => {
  const sales = useSignedSales({
    gateways: 2,
    // Both gateways have one public name, so that a challenge of one is valid at the other.
    env: {
      PUBLIC_URL: 'https://shop.example',
      FACILITATOR: 'true',
      FACILITATOR_RATE_LIMIT_PER_MINUTE: '0',
      // Each request is sent once: the gateway that settles waits for the end, on a busy machine too.
      LEASE_MS: '30000',
      VERIFY_DEADLINE_MS: '30000',
      SETTLE_DEADLINE_MS: '30000',
    },
  });

  // Prevents: one payment buys an answer in each protocol, or buys none at all.
  it.each([1, 2, 3, 4])('buys one answer or one success, and is moved once (try %s)', async () => {
    const challenge = await readChallenge(sales().url(RESOURCE));
    const { id = '', realm = '' } = challenge.authentication;
    const payment: SignedAuthorization = await sales().sign({ nonce: challengeNonce({ id, realm }) });
    const present = [presentV1(payment), presentV2(challenge, payment), presentMpp(challenge, payment)];
    const ask = async (headers: Record<string, string>, gateway: number) => {
      const response = await fetch(sales().url(RESOURCE, gateway), { headers });
      const failure = response.headers.get('x-payment-failure');
      return [response.status, response.headers.has('idempotent-replayed'), await response.text(), failure] as const;
    };
    const settle = async (gateway: number) =>
      (await postSettlement(sales().stack.gateways[gateway]!.url, sales().chain, payment)).success;

    const rounds = Array.from({ length: TIMES }, (_, turn) => turn % 2);
    const buying = rounds.flatMap((gateway) =>
      present.flatMap((headers) => [ask(headers, gateway), ask(headers, 1 - gateway)]),
    );
    const settling = rounds.map(settle);
    const [bought, settled] = [await Promise.all(buying), await Promise.all(settling)];

    const answers = bought.filter(([status, isReplayed]) => status === 200 && !isReplayed);
    expect(answers.length + settled.filter(Boolean).length).toBe(1);
    const replays = bought.filter(([status, isReplayed]) => status === 200 && isReplayed);
    for (const [, , text] of replays) expect(text).toBe(answers[0]?.[2]);
    // In a form that does not name the first purchase, the payment is reported as used, and never as invalid.
    for (const [status, , , failure] of bought)
      expect([null, 'payment_used']).toContain(status === 200 ? null : failure);
    await expectPaidOnce(sales(), [payment]);
  });
});
