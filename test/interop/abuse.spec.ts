import { encodeProof, type Hex } from '@tollgate/protocol';

import type { HttpTap } from '../../tools/devnet/interop/http-tap.js';
import type { ClientAnswer } from '../../tools/devnet/interop/start-published.js';
import {
  ALTERED_ACCEPTANCES,
  ALTERED_PAYMENTS,
  ALTERED_PERMITS,
  ALTERED_TERMS,
  canBePreempted,
  GATEWAY_WAYS,
  USES,
  type Client,
  type Refusal,
  type Way,
} from './matrix.js';
import {
  acceptanceChanges,
  alterChallenge,
  alterPayment,
  PAYMENT_CHANGES,
  PERMIT_CHANGES,
  readPayment,
  TERM_CHANGES,
} from './rig/alter-messages.js';
import { COSTS, formFor } from './rig/start-rig.js';
import { preempt, sendTogether } from './rig/use-payments.js';
import { useRig } from './rig/use-rig.js';
import { watchMoney } from './rig/watch-money.js';

const namesOf = <Name extends string>(table: Readonly<Record<Name, unknown>>) => Object.keys(table) as Name[];

describe('the gateway', () => {
  // These clients do not repeat a request, so the deadlines must suffice for forty settlements at once on a busy
  // machine.
  const rig = useRig({ env: { SETTLE_WAIT_MS: '20000', SETTLE_DEADLINE_MS: '30000', VERIFY_DEADLINE_MS: '30000' } });
  const tapOf = (client: Client): HttpTap => rig().taps[formFor(client)];
  afterEach(() => {
    for (const tap of Object.values(rig().taps)) tap.interfere();
  });

  async function watch<Result>(
    { client: { name }, product }: Way,
    work: (buy: () => Promise<ClientAnswer>) => Promise<Result>,
    tap: HttpTap,
  ) {
    const { client, payer } = await rig().client(name, { product });
    return watchMoney(rig().chain, { payer: payer.address }, () => work(() => client.fetch(`${tap.url}/${product}`)));
  }

  /** However the client reports it: its payment was refused, and nothing moved. */
  async function expectRefusal(way: Way, { failure, mpp = failure, metered = failure }: Refusal): Promise<void> {
    const { client, product } = way;
    const tap = tapOf(client);
    const firstIs = tap.exchanges.length;
    const asked = rig().upstream.requests.length;
    const { moved } = await watch(way, (buy) => buy().catch(() => null), tap);
    const paid = tap.exchanges.slice(firstIs).filter(({ request }) => readPayment(request, client) !== null);
    const outcomes = paid.map(({ answer }) => `${answer.status} ${String(answer.headers['x-payment-failure'])}`);
    const expected = product === 'metered' ? metered : failure;
    expect(new Set(outcomes)).toEqual(new Set([`402 ${client.protocol === 'MPP' ? mpp : expected}`]));
    expect(moved).toEqual({ payer: 0n, payTo: 0n });
    expect(rig().upstream.requests).toHaveLength(asked);
  }

  describe.each(GATEWAY_WAYS)('refuses what $client.packageName for its $product', (way) => {
    const { client, product } = way;

    it.each(namesOf(ALTERED_TERMS))('signed for a challenge with %s', async (term) => {
      tapOf(client).interfere(async (request, send) => alterChallenge(await send(request), TERM_CHANGES[term]));
      await expectRefusal(way, ALTERED_TERMS[term]);
    });

    const parts: [string, (typeof PAYMENT_CHANGES)['value'], Refusal][] =
      product === 'quote'
        ? namesOf(ALTERED_PAYMENTS).map((part) => [part, PAYMENT_CHANGES[part], ALTERED_PAYMENTS[part]])
        : namesOf(ALTERED_PERMITS).map((part) => [part, PERMIT_CHANGES[part], ALTERED_PERMITS[part]]);
    it.each(parts)('signed, with another %s', async (_part, change, refusal) => {
      tapOf(client).interfere((request, send) => send(alterPayment(request, client, change)));
      await expectRefusal(way, refusal);
    });

    if (client.protocol !== 'x402 2') return;
    it.each(namesOf(ALTERED_ACCEPTANCES))('signed, where it states another accepted %s', async (part) => {
      const change = ({ accepted }: { accepted?: { scheme: string } }) => {
        if (accepted) Object.assign(accepted, acceptanceChanges(accepted.scheme)[part]);
      };
      tapOf(client).interfere((request, send) => send(alterPayment(request, client, change)));
      await expectRefusal(way, ALTERED_ACCEPTANCES[part]);
    });
  });

  describe.each(GATEWAY_WAYS)('sells its $product for what $client.packageName signed', (way) => {
    const { client, product } = way;
    const cost = COSTS[product];

    it(`though it is ${USES.together}`, async () => {
      const asked = rig().upstream.requests.length;
      const answers = sendTogether(tapOf(client), client, 20);
      const { result, moved } = await watch(way, (buy) => buy(), tapOf(client));
      expect(result.status).toBe(200);
      expect(moved).toEqual({ payer: -cost, payTo: cost });
      expect(rig().upstream.requests).toHaveLength(asked + 1);
      const served = answers.filter(({ status }) => status === 200);
      expect(new Set(served.map(({ body }) => body))).toEqual(new Set([result.body]));
      expect(answers.filter(({ status }) => ![200, 402, 409].includes(status))).toEqual([]);
    });

    it(`when it is ${USES.many}`, async () => {
      const { result, moved } = await watch(way, (buy) => Promise.all(Array.from({ length: 40 }, buy)), tapOf(client));
      expect(result.map(({ status }) => status)).toEqual(result.map(() => 200));
      expect(new Set(result.map(({ body }) => body)).size).toBe(40);
      expect(moved).toEqual({ payer: -40n * cost, payTo: 40n * cost });
    });

    if (canBePreempted(way))
      it(`though it is ${USES.preempted}`, async () => {
        const hashes = preempt(rig(), tapOf(client), client);
        const { result, moved } = await watch(way, (buy) => buy(), tapOf(client));
        expect(result.status).toBe(200);
        expect(moved).toEqual({ payer: -cost, payTo: cost });
        expect([result.receipt?.['transaction'] ?? result.receipt?.['reference']]).toEqual(hashes);
      });

    it(`and, ${USES.asHash}`, async () => {
      const failure = product === 'quote' ? 'payment_used' : 'belongs_to_permit';
      const { result, moved } = await watch(
        way,
        async (buy) => {
          const { receipt } = await buy();
          const txHash = (receipt?.['transaction'] ?? receipt?.['reference']) as Hex;
          const network = formFor(client) === 'documented' ? 'chain-testnet' : 'sei-testnet';
          const proof = encodeProof({ x402Version: 1, scheme: 'exact', network, payload: { txHash } });
          return fetch(`${tapOf(client).url}/${product}`, { headers: { 'X-Payment': proof } });
        },
        tapOf(client),
      );
      expect([result.status, result.headers.get('x-payment-failure')]).toEqual([402, failure]);
      expect(moved).toEqual({ payer: -cost, payTo: cost });
    });
  });
});
