import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import type { ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { createProof, outcomeOf } from '../harness/payments/pay.js';
import { waitFor } from '../harness/retry.js';
import { useStack } from '../harness/stack/use-stack.js';

const PROOFS = 120;
/** Sent by the first test. */
const EARLIER = 10;
/**
 * Of each of three clients five lines, and one more for all others, in a minute; a busy machine needs more than one
 * minute.
 */
const MOST_LINES = 40;
const WINDOW_SECONDS = 2;
const SHOP = '0x5555555555555555555555555555555555555555';

type Line = Record<string, unknown> & { msg: string; context?: string };

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;

function linesOf(service: ServiceProcess, ...contexts: string[]): Line[] {
  const lines = service
    .logs()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line).filter(({ context }) => contexts.includes(String(context)));
}

/** Limits what strangers without a payment can cause in the logs of a gateway and a verifier. */
describe('invented payment proofs', () => {
  const stack = useStack({
    env: {
      TRUST_PROXY: '127.0.0.1',
      ALLOW_INSECURE_HTTP: 'true',
      RECEIPT_WAIT_MS: '0',
      REDEMPTION_WINDOW_SECONDS: String(WINDOW_SECONDS),
      VERIFY_DEADLINE_MS: '60000',
      VERIFY_RETRY_MS: '30000',
      FACILITATOR: 'true',
      FACILITATOR_PAY_TO: SHOP,
      FACILITATOR_RATE_LIMIT_PER_MINUTE: '0',
      SIGNED_PAYMENTS: 'true',
    },
  });

  const present = (proof: string, client: string) =>
    outcomeOf(fetch(`${stack().baseUrl}/api/weather`, { headers: { 'X-Payment': proof, 'X-Forwarded-For': client } }));
  const metric = async (url: string, start: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(start));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const stop = async (service: ServiceProcess) => {
    await service.kill('SIGTERM');
    return service;
  };

  function settle(): Promise<Response> {
    const { asset, chainId } = stack().chain;
    const validBefore = String(Math.floor(Date.now() / 1000) + 300);
    const authorization = { from: hex(20), to: SHOP, value: '1000', validAfter: '0', validBefore, nonce: hex(32) };
    const paymentRequirements = {
      scheme: 'exact',
      network: `eip155:${chainId}`,
      asset,
      payTo: SHOP,
      amount: '1000',
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    };
    const payload = { signature: hex(65), authorization };
    const paymentPayload = { x402Version: 2, payload, accepted: paymentRequirements };
    return fetch(`${stack().baseUrl}/facilitator/settle`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.8' },
      body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements }),
    });
  }

  it('do not hide money that arrived and bought nothing', async () => {
    const [verifier] = stack().verifiers;
    const txHash = await transferTokens(stack().chain, { amountBaseUnits: 1000n });
    for (let index = 0; index < EARLIER; index++) await present(createProof(hex(32)), '203.0.113.7');
    await sleep((WINDOW_SECONDS + 2) * 1000);
    expect(await present(createProof(txHash), '203.0.113.7')).toEqual([402, 'payment_too_old']);
    expect(await present(createProof(txHash), '203.0.113.7')).toEqual([402, 'payment_too_old']);
    await waitFor('its line', () => linesOf(verifier!, 'Refunds').length > 0);
    const recorded = linesOf(verifier!, 'Refunds');
    expect(recorded).toMatchObject([{ msg: 'payment recorded for refund', txHash, failure: 'payment_too_old' }]);
  });

  it('write a bounded number of lines, are all counted, and keep no other client out of the log', async () => {
    const [gateway, verifier] = [stack().gateways[0]!, stack().verifiers[0]!];
    // One network of a stranger, with many of its addresses.
    const stranger = (index: number) => `2001:db8:1:2::${index.toString(16)}`;
    for (let index = 0; index < PROOFS; index++) {
      expect(await present(createProof(hex(32)), stranger(index))).toEqual([402, 'receipt_missing']);
      expect(await present('no proof', stranger(index))).toEqual([402, 'malformed_proof']);
      expect(((await (await settle()).json()) as { success: unknown }).success).toBe(false);
    }
    expect(await present(createProof(hex(32)), '203.0.113.9')).toEqual([402, 'receipt_missing']);

    const counted = (reason: string) => metric(gateway.url, `tollgate_challenges_total{reason="${reason}"`);
    expect([await counted('receipt_missing'), await counted('malformed_proof')]).toEqual([
      EARLIER + PROOFS + 1,
      PROOFS,
    ]);
    const judged = (start: string) =>
      metric(verifier.url, `tollgate_verifications_total{option="default",outcome="refused",${start}`);
    expect(await judged('failure="receipt_missing"')).toBe(EARLIER + PROOFS + 1);
    expect(await judged('failure="signature_invalid"')).toBe(PROOFS);

    // The number of lines left out in the last minute is logged at the end.
    const paywall = linesOf(await stop(gateway), 'Paywall');
    const facilitator = linesOf(gateway, 'Facilitator');
    const verification = linesOf(await stop(verifier), 'Verification');
    const leftOut = (lines: Line[]) =>
      lines.filter(({ msg }) => msg === 'lines left out').reduce((sum, line) => sum + Number(line['lines']), 0);
    // The payment of the first test was presented twice.
    const refused = EARLIER + 2 + 2 * PROOFS + 1;
    const written = (lines: Line[], msg: string) => lines.filter((line) => line.msg === msg).length;
    for (const [lines, msg, count] of [
      [paywall, 'payment refused', refused],
      [facilitator, 'settlement: not_settled', PROOFS],
      [verification, 'payment refused', refused],
    ] as const) {
      expect(lines.length).toBeLessThan(MOST_LINES);
      expect(written(lines, msg) + leftOut(lines)).toBe(count);
    }
    expect(paywall.filter(({ clientAddress }) => clientAddress === '203.0.113.9')).toHaveLength(1);
  });
});
